/**
 * The page of a build.
 *
 * @module
 */
import { isAbsolute } from "node:path"
import type * as Host from "../../cli/Host.ts"
import type * as Config from "../../loader/Config.ts"

/** The subject of a page. */
export interface Subject {
  readonly target: Host.Target
  /** The environment of the configuration. */
  readonly environment: string | undefined
  /** The lines that start the build. */
  readonly usage: ReadonlyArray<string>
  /** The environment variables without which it does not start. */
  readonly variables: ReadonlyArray<string>
}

/**
 * The page of a build.
 */
export const make = (subject: Subject, settings: Config.Settings): string => {
  const { environment, target, usage } = subject
  const chosen = environment === undefined ? "" : ` --env ${environment}`
  const isWorkers = target === "workers"
  const files = isWorkers ? workerFiles : target === "deno" ? [...serverFiles, serveFile] : serverFiles
  return `# A build for ${target}

Written by \`systole build --target ${target}${chosen}\`. Change the project instead, and build again.

${usage.map((line) => `    ${line}`).join("\n")}

| file | contains |
| --- | --- |
${[...files, ...commonFiles].map(([file, content]) => `| ${file} | ${content} |`).join("\n")}

${(isWorkers ? workerNotes : serverNotes)(subject, settings).map((note) => `- ${note}`).join("\n")}
`
}

type Row = readonly [file: string, content: string]

const serverFiles: ReadonlyArray<Row> = [
  ["`systole.js` and `chunk-*.js`", "the runtime, the modules and the configuration"],
  ["`WatchdogThread.js`", "the thread that names runs that never return"]
]

const serveFile: Row = ["`serve.js`", "the project for `deno serve`, which gives it the address"]

const workerFiles: ReadonlyArray<Row> = [
  ["`worker.js` and `chunk-*.js`", "the runtime, the modules and the configuration"],
  ["`assets/`", "the OpenAPI document of the Worker and its page, which the Worker serves at `/openapi.json` and `/docs`"],
  ["`wrangler.jsonc`", "the bindings and migrations; it is yours as soon as it is there, so keep it under version control"]
]

const commonFiles: ReadonlyArray<Row> = [
  ["`modules/`", "the texts of the modules by digest, for `--keep` of later builds and for replays"],
  ["`build.json`", "the digest of each module"],
  ["`files.json`", "the files that the next build replaces"]
]

const serverNotes = ({ usage, variables }: Subject, { data, host, kernel, port }: Config.Settings): ReadonlyArray<string> => [
  `It listens at \`${host}:${port}\`; \`--port\` gives another port.`,
  `Data is in \`${data}\`${isAbsolute(data) ? "" : " of the working directory"}; ` +
    "`--data FOLDER` gives another folder. Keep it outside of this folder.",
  variables.length === 0
    ? "`SYSTOLE_TOKEN` in the environment is the token of the operator."
    : `Set ${variables.map((variable) => `\`${variable}\``).join(", ")} in the environment.`,
  `Create a space with the same command: \`${usage[0]} space create NAME\`.`,
  `One process at a time uses the data. It stops on SIGTERM within ${kernel.limits.stopMillis / 1000} seconds.`
]

const workerNotes = ({ variables }: Subject, { kernel: { create } }: Config.Settings): ReadonlyArray<string> => [
  `Secrets: ${variables.map((variable) => `\`${variable}\``).join(", ")}; for \`wrangler dev\`, set them in \`.dev.vars\`.`,
  "The variable `SYSTOLE_PUBLIC` with the text `true` allows requests without a token. Without both, each request is refused.",
  create === "on-demand"
    ? "A space is created by its first signal."
    : "Create a space: `npx systole space create NAME --server https://…`.",
  "Each command of `systole` for spaces acts on it with `--server https://…`, and with the token as `SYSTOLE_TOKEN` in the environment.",
  "The names `Space`, `Directory` and `v1` are forever: another name is another, empty storage."
]
