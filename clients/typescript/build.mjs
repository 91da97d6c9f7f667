// Makes src/generated of the API's document: ABBOT_OPENAPI, or that of the checkout.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { parse } from "yaml";

const here = new URL("./src/generated/", import.meta.url);
const document = process.env.ABBOT_OPENAPI
  ? pathToFileURL(process.env.ABBOT_OPENAPI)
  : new URL("../../openapi.yaml", import.meta.url);
const { paths } = parse(await readFile(document, "utf-8"));

// The operations whose requests count once under an Idempotency-Key.
const key = "#/components/parameters/IdempotencyKey";
const keyed = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, operation]) => operation.parameters?.some(({ $ref }) => $ref === key))
    .map(([method]) => `${method.toUpperCase()} ${path}`),
);

await mkdir(here, { recursive: true });
// What has a default may be left out of a request; answers say themselves what they always have.
const types = await openapiTS(document, { defaultNonNullable: false });
await writeFile(new URL("api.ts", here), astToString(types));
await writeFile(
  new URL("keyed.ts", here),
  `export const KEYED: ReadonlySet<string> = new Set(${JSON.stringify(keyed, null, 2)});\n`,
);
