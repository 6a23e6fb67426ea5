/**
 * A server whose disk is full: a small file system in a name space of its own, which needs no root where the host allows it.
 *
 * @module
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { line as command } from "../scripts/Command.ts"
import { run } from "../scripts/Process.ts"
import { start } from "../scripts/Server.ts"
import { hold, type Packed, request, tokens, write } from "./Targets.ts"

/** The size of the disk, in MiB, and of each value that fills it, in characters. */
const DISK = 4
const VALUE = 200_000

/** The writes that fill the disk twice. */
const WRITES = 2 * DISK * 1_048_576 / VALUE

const setup = {
  name: "full",
  config: `token: ${JSON.stringify(tokens.operator)}, spaces: { create: "on-demand" }`,
  enzymes: {},
  token: tokens.operator
}

/** The command line that mounts a small disk for a program alone, at the folder of its first argument. */
const mount = `mount -t tmpfs -o size=${DISK}m none "$0" && exec "$@"`
const mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount] as const

/** Checks that a full disk is told by the readiness probe, and ends no server. Where no disk can be mounted, it says so. */
export const check = async ({ command: file, folder: parent }: Packed, folder: string): Promise<void> => {
  const disk = join(folder, "disk")
  await mkdir(disk, { recursive: true })
  const { code, output } = await run([...mounted, disk, "true"])
  if (code !== 0) {
    process.stderr.write(`attack: no full disk, since none can be mounted here: ${output.trim()}\n`)
    return
  }
  const project = await write(parent, setup)
  const line = [...mounted, disk, ...command("node", file), "start", "--port", "0"]
  const server = await start(project, disk, { line, told: () => {} })
  const headers = { authorization: `Bearer ${tokens.operator}`, "content-type": "application/json" }
  const ask = (path: string, method = "GET", body?: string) =>
    request(server.url, path, { method, headers, ...body === undefined ? {} : { body } })
  try {
    let last = 200
    for (let i = 0; i < WRITES && last < 500; i++) {
      last = (await ask(`/v1/spaces/home/cells/data/${i}`, "PUT", JSON.stringify("x".repeat(VALUE)))).status
    }
    hold(last >= 500, `${WRITES} writes to a disk of ${DISK} MiB end with ${last}`)
    const { status, text } = await ask("/readyz")
    hold(status === 503, `/readyz on a full disk is answered ${status} ${text.slice(0, 200)}`)
    hold((await ask("/livez")).status === 200, "a full disk ends the server")
  } finally {
    await server.end("SIGKILL")
  }
}
