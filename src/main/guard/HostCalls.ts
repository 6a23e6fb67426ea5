/**
 * The functions of Node, Deno and Bun whose results no replay can repeat, beside those of `GuardedCalls.ts`: files, commands and
 * network too, and the modules of Node.
 *
 * The modules are objects that a program may change. Node passes such a change on to all imports by name, and Bun to later ones.
 *
 * @module
 */
import { type Calls, chance, later, network, time, timers } from "./GuardedCalls.ts"

const files = "Use tx.io.request with a channel such as file or shell, or do it outside of the runtime and send its result as a signal"
const arithmetic = "Its last digits differ between engines; use + - * / and Math.sqrt, or do it outside the beat"

/** The objects that one host alone has. */
const host = globalThis as {
  readonly Deno?: object
  readonly Bun?: object
  readonly process?: { readonly getBuiltinModule?: (name: string) => object | undefined }
}

/** A module of Node, if the host has it. */
const moduleOf = (name: string): object | undefined => host.process?.getBuiltinModule?.(`node:${name}`)

/** The functions of the objects that one host alone has. */
const ofHosts = (): ReadonlyArray<Calls> => [
  { owner: host.Bun, prefix: "Bun.", members: ["nanoseconds"], instead: time },
  { owner: host.Bun, prefix: "Bun.", members: ["randomUUIDv7"], instead: chance },
  { owner: host.Bun, prefix: "Bun.", members: ["sleep", "sleepSync"], instead: later },
  { owner: host.Bun, prefix: "Bun.", members: ["connect", "listen", "serve", "udpSocket"], instead: network },
  { owner: host.Bun, prefix: "Bun.", members: ["$", "file", "spawn", "spawnSync", "write"], instead: files },
  {
    owner: host.Deno,
    prefix: "Deno.",
    members: ["connect", "connectTls", "listen", "listenDatagram", "listenTls", "resolveDns", "serve"],
    instead: network
  },
  {
    owner: host.Deno,
    prefix: "Deno.",
    members: [
      "Command", "openKv",
      ...[
        "copyFile", "create", "lstat", "makeTempDir", "makeTempFile", "mkdir", "open", "readDir", "readFile", "readLink", "readTextFile",
        "realPath", "remove", "rename", "stat", "writeFile", "writeTextFile"
      ].flatMap((name) => [name, `${name}Sync`])
    ],
    instead: files
  }
]

/** The functions of the modules of Node. The global `process`, `performance` and `crypto` are those of the modules. */
const ofModules = (): ReadonlyArray<Calls> => {
  const of = (name: string, members: ReadonlyArray<string>, instead: string): Calls =>
    ({ owner: moduleOf(name), prefix: `${name}.`, members, instead, isHosts: instead === files || instead === network })
  const waits = moduleOf("timers/promises") as { readonly scheduler?: object } | undefined
  return [
    of("timers", timers, later),
    { owner: waits?.scheduler, prefix: "scheduler.", members: ["wait", "yield"], instead: later },
    of("timers/promises", timers, later),
    of("os", ["uptime", "loadavg", "freemem"], time),
    of("crypto", [
      "randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID", "randomUUIDv7", "getRandomValues", "generateKey",
      "generateKeySync", "generateKeyPair", "generateKeyPairSync", "generatePrime", "generatePrimeSync"
    ], chance),
    of("fs", namesOf("fs"), files),
    of("fs/promises", namesOf("fs/promises"), files),
    of("child_process", ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"], files),
    of("worker_threads", ["Worker"], files),
    of("http", ["get", "request", "createServer"], network),
    of("https", ["get", "request", "createServer"], network),
    of("http2", ["connect", "createServer", "createSecureServer"], network),
    of("net", ["connect", "createConnection", "createServer"], network),
    of("tls", ["connect", "createServer"], network),
    of("dgram", ["createSocket"], network),
    of("dns", namesOf("dns"), network),
    of("dns/promises", namesOf("dns/promises"), network)
  ]
}

/** The public functions of a module. */
const namesOf = (name: string): ReadonlyArray<string> => Object.keys(moduleOf(name) ?? {}).filter((member) => /^[a-z]/.test(member))

/** Functions whose last digits differ between engines. */
const inexact: Calls = {
  owner: Math,
  prefix: "Math.",
  members: [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2",
    "pow", "sin", "sinh", "tan", "tanh"
  ],
  instead: arithmetic,
  isInexact: true
}

/** All of them that this host has. */
export const all = (): ReadonlyArray<Calls> => [...ofHosts(), ...ofModules(), inexact]

/** Has imports by name from modules of Node see the guards, where the host can. That of Workers has the function, which throws. */
export const passOn = (): void => {
  try {
    (moduleOf("module") as { readonly syncBuiltinESMExports?: () => void } | undefined)?.syncBuiltinESMExports?.()
  } catch {
    // Those imports then stay unguarded, as the guide says.
  }
}
