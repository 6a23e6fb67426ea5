/**
 * Outputs without a reader: each line that the server prints fails.
 *
 * @module
 */
import type { Part } from "../Part.ts"
import { hold, PATIENCE, type Target } from "../Targets.ts"

const thrower = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "thrower", query: "/signals/throw", run: () => { throw new Error("x".repeat(1000)) } })
`

const close = async ({ server: { process: { stderr, stdout } } }: Target): Promise<void> => {
  stdout?.destroy()
  stderr?.destroy()
}

/** Ends the server as its operator does. */
const check = async ({ server }: Target): Promise<void> => {
  const limit = setTimeout(() => server.process.kill("SIGKILL"), PATIENCE)
  await server.end("SIGTERM")
  clearTimeout(limit)
  hold(server.process.exitCode === 0, `SIGTERM ended the server with ${server.process.exitCode ?? server.process.signalCode}`)
}

export const output: Part = {
  name: "output",
  holds: "reports to closed outputs are dropped, and SIGTERM ends the server as ever",
  everyMs: 25,
  prepare: async () => ({
    ground: { enzymes: { thrower } },
    begin: close,
    attempt: async ({ ask }) => {
      const body = JSON.stringify({ signal: "/signals/throw" })
      const headers = { "content-type": "application/json", prefer: "wait=30" }
      const { status, text } = await ask("/v1/spaces/noisy/signals", { method: "POST", headers, body })
      hold(status === 422 && text.includes("thrower"), `a run that throws is answered ${status} ${text.slice(0, 200)}`)
    },
    check
  })
}
