/**
 * `systole login`: prints a link that begins the session of a browser.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import { SESSION } from "../../contract/Paths.ts"
import type * as Endpoints from "../../contract/Sessions.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"

const unserved = new CliFailure({
  exit: exits.unreachable,
  code: "server/unreachable",
  message: "No server of this project runs, so no browser can open a link. Start one with systole start, or name one with --server"
})

/** The address of a server for a browser of this machine, where it listens on all addresses. */
const browsable = (address: string): string =>
  address.replace(/^http:\/\/0\.0\.0\.0\b/, "http://127.0.0.1").replace("http://[::]", "http://[::1]")

/**
 * The command `login`.
 */
export const command = Command.make("login", { json: Output.json }, ({ json }) =>
  Client.use((client) => Effect.gen(function*() {
    const { address } = client
    if (address === undefined) return yield* unserved
    const { expires, link = "" } = yield* client.ask<AnswerOf<typeof Endpoints.begin>>(`${SESSION}?as=link`, { method: "POST" })
    yield* Output.note(`Open this link in a browser, once, until ${new Date(expires).toISOString()}. Whoever has it may do what you may`)
    const whole = browsable(address) + link
    yield* Output.data(json, { link: whole, expires }, whole)
  }))).pipe(
    Command.withDescription("Print a link that logs a browser in, once and within 5 minutes, with the rights of the server's token"),
    Command.withExamples([{ command: "systole login --server https://shop.example.org" }]),
    Command.provide(Client.layer)
  )
