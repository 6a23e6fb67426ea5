/**
 * `systole dev` in a project that has devices in the place of modules.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs"
import { mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { line as command } from "../scripts/Command.ts"
import { start } from "../scripts/Server.ts"
import { run } from "../scripts/Process.ts"
import { hold, memory, MEMORY, type Packed, PATIENCE } from "./Targets.ts"

/** The time for which a device may show what it costs, and the interval of the looks, in milliseconds. */
const SHOWN = 1500
const LOOK = 20

const module = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "own", query: "/signals/own", run: () => 1 })
`

/** The children of a process. */
const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(pid)
    } catch {
      return false
    }
  }).map(Number)

const wait = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const isAlive = (pid: number): boolean => memory(pid) > 0

/** Writes a project with a module, an endless device, and a pipe to which no program writes. */
const write = async (folder: string): Promise<void> => {
  const enzymes = join(folder, "enzymes")
  await mkdir(enzymes, { recursive: true })
  await writeFile(join(folder, "package.json"), `{ "type": "module", "private": true }`)
  await writeFile(join(folder, "systole.config.ts"), "export default { limits: { moduleMillis: 2000 } }\n")
  await writeFile(join(enzymes, "own.ts"), module)
  await symlink("/dev/zero", join(enzymes, "zero.ts"))
  await run(["mkfifo", join(enzymes, "pipe.ts")])
}

/**
 * Checks that `systole dev` bundles regular files alone, and that no child outlives it.
 *
 * The looks begin before it listens: a bundler that reads a device takes all memory within seconds.
 */
export const check = async ({ command: file, folder: parent }: Packed, folder: string): Promise<void> => {
  const project = join(parent, `dev-${folder.split("/").at(-1)}`)
  await write(project)
  let printed = ""
  let most = 0
  let isOver = false
  const [program, ...args] = command("node", file)
  // The limit of the shell ends a bundler before it takes the memory of the machine.
  const limited = ["sh", "-c", `ulimit -v ${64 * MEMORY * 1024}; exec "$@"`, "sh", program, ...args, "dev", "--port", "0"]
  const started = start(project, join(project, "data"), { line: limited, told: (text) => printed += text })
  const slow = wait(PATIENCE).then(() => Promise.reject(new Error(`systole dev does not listen within ${PATIENCE} ms over a device`)))
  const server = await Promise.race([started, slow])
  const pid = server.process.pid ?? 0
  const children = new Set<number>()
  try {
    for (const end = performance.now() + SHOWN; performance.now() < end && !isOver; await wait(LOOK)) {
      const family = childrenOf(pid)
      for (const child of family) children.add(child)
      most = Math.max(most, [pid, ...family].reduce((sum, one) => sum + memory(one), 0))
      isOver = most > MEMORY
      if (isOver) for (const child of family) process.kill(child, "SIGKILL")
    }
  } finally {
    await server.end("SIGKILL")
  }
  hold(most <= MEMORY, `systole dev and its children take ${most} MiB over a device: ${printed.slice(0, 300)}`)
  for (const end = performance.now() + PATIENCE; performance.now() < end && [...children].some(isAlive);) await wait(LOOK)
  hold(![...children].some(isAlive), "a child of systole dev outlives it")
}
