/**
 * The tools beside the server: requests without a token, the command line at a hostile server, `systole dev` over devices, and
 * a full disk.
 *
 * @module
 */
import { readdirSync, readlinkSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { node } from "../../scripts/Host.ts"
import { run } from "../../scripts/Process.ts"
import * as Devices from "../Devices.ts"
import * as FullDisk from "../FullDisk.ts"
import * as HostileServer from "../HostileServer.ts"
import type { Part } from "../Part.ts"
import { OPEN } from "../Part.ts"
import { hold, type Packed, PATIENCE, type Sent, type Target, tokens } from "../Targets.ts"

/** More spaces than the server keeps open. */
const SPACES = OPEN + 20

/** The interval of attempts that run a command; the others are requests without a token. */
const COMMANDS = 20

/** The ways of a hostile server that a command has to see through at once. */
const ways = ["flood", "inflated", "garbage", "fields", "broken", "redirect", "upgrade"]

const json = { "content-type": "application/json" }

const strangers: ReadonlyArray<readonly [path: string, sent: Sent]> = [
  ["/cells/data/x", {}],
  ["/cells/data/x", { headers: { accept: "text/event-stream" } }],
  ["/signals", { method: "POST", headers: json, body: `{"signal":"/signals/small"}` }],
  ["/rv/job/report", { method: "POST", headers: { ...json, authorization: "Rendezvous 00ff" }, body: "{}" }],
  ["/beats", { headers: { authorization: "Bearer wrong" } }],
  ["", { method: "PUT" }],
  ["", { method: "DELETE" }]
]

const spaceOf = (n: number): string => `/v1/spaces/tools${n % SPACES}`

/** The statuses of a refusal: the credential, the verb, or the rate of reports from one address. */
const refusals: ReadonlyArray<number> = [401, 403, 429]

/** Sends a request without a token, to a space that exists. */
const stranger = async ({ ask }: Target, n: number): Promise<void> => {
  const [path, { headers = {}, ...sent }] = strangers[n % strangers.length] ?? ["", {}]
  const answer = await ask(spaceOf(n) + path, { ...sent, headers: { authorization: "", ...headers } })
  hold(refusals.includes(answer.status), `${path} without a token is answered ${answer.status} ${answer.text.slice(0, 200)}`)
}

/** The files of stores that a server has open. */
const stores = ({ server }: Target): ReadonlyArray<string> => {
  const folder = `/proc/${server.process.pid}/fd`
  const paths = readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(join(folder, fd))]
    } catch {
      return []
    }
  })
  return [...new Set(paths.filter((path) => path.endsWith(".sqlite")))].sort()
}

const opensNothing = async (target: Target): Promise<void> => {
  const before = stores(target)
  for (let n = 0; n < SPACES * strangers.length; n++) await stranger(target, n)
  const more = stores(target).filter((path) => !before.includes(path))
  hold(more.length === 0, `requests without a token open ${more.length} spaces`)
  const left = await readFile(join(target.data, "server.json"), "utf8")
  hold(!left.includes(tokens.operator), "server.json has the configured token")
}

/** The time that a command may take in milliseconds, of which it waits for the processors most. */
const COMMAND = 3 * PATIENCE

/** Runs a command at a hostile server. It gives way to the server under attack, with which it shares the processors. */
const command = async ({ command, folder }: Packed, url: string, way: string): Promise<void> => {
  const line = ["nice", "-n", "10", node(), command, "cell", "get", "home", `/data/${way}`, "--server", url] as const
  const { code, millis, output } = await run(line, { cwd: folder, limitMillis: COMMAND })
  hold(code !== undefined && code > 0, `a command at a server of ${way} ended with ${code ?? "a kill"} after ${Math.round(millis)} ms`)
  hold(!/TypeError|\n {4}at /.test(output), `a command at a server of ${way} prints ${output.slice(0, 300)}`)
}

export const tools: Part = {
  name: "tools",
  holds: "no device, full disk, hostile server or caller without a token costs more than itself",
  everyMs: 25,
  prepare: async ({ folder, packed }) => {
    const server = await HostileServer.start()
    return {
      ground: {},
      begin: async ({ ask }) => {
        for (let n = 0; n < SPACES; n++) {
          const { status } = await ask(spaceOf(n), { method: "PUT" })
          hold(status === 201, `the creation of a space is answered ${status}`)
        }
      },
      attempt: (target, n) =>
        n % COMMANDS === COMMANDS - 1
          ? command(packed, server.url, ways[Math.floor(n / COMMANDS) % ways.length] ?? "")
          : stranger(target, n),
      check: opensNothing,
      beside: async () => {
        await Devices.check(packed, folder)
        await FullDisk.check(packed, folder)
      },
      end: async () => server.end()
    }
  }
}
