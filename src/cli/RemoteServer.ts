/**
 * The flag `--server`: the address of a server elsewhere, as of a deployed Worker, in place of the project in the current folder.
 *
 * @module
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Redacted from "../cell/Redacted.ts"
import { FORM, TOKEN } from "../loader/Secrets.ts"
import { CliFailure, exits } from "./CliFailure.ts"

/**
 * The global flag `--server`.
 */
export const flag = GlobalFlag.Setting("server")({
  flag: Flag.String("server").pipe(
    Flag.withDescription("The address of a server elsewhere, such as https://shop.example.org; its token is the variable SYSTOLE_TOKEN"),
    Flag.optional
  )
})

/**
 * A server elsewhere.
 */
export interface RemoteServer {
  /** The address without a slash at its end. */
  readonly url: string
  readonly token: Redacted.Redacted | undefined
}

const invalid = (url: string, reason: string) =>
  new CliFailure({
    exit: exits.usage,
    code: "server/url",
    message: `--server ${url} ${reason}. Write it as https://HOST or http://HOST:PORT`
  })

/** The address as requests use it. A user, a query or a fragment in it would be lost, or show a password in lists of processes. */
const address = (text: string): Effect.Effect<string, CliFailure> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return Effect.fail(invalid(text, "is no address"))
  if (url.protocol !== "https:" && url.protocol !== "http:") return Effect.fail(invalid(text, `has the protocol ${url.protocol}`))
  if (`${url.username}${url.password}` !== "") return Effect.fail(invalid(`${url.protocol}//…@${url.host}`, "names a user or a password"))
  if (url.search !== "" || url.hash !== "") return Effect.fail(invalid(text, "has a query or a fragment"))
  return Effect.succeed(`${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, ""))
}

/** The token. It is no argument, because other users can list the arguments of processes, and no message shows it. */
const token = Effect.gen(function*() {
  const given = yield* Config.option(Config.NonEmptyString("SYSTOLE_TOKEN")).pipe(Effect.mapError(() => untold("is empty")))
  return Option.isNone(given) || TOKEN.test(given.value) ? given : yield* untold(`is no token: ${FORM}`)
})

const untold = (reason: string) => new CliFailure({
  exit: exits.usage,
  code: "auth/missing",
  message: `SYSTOLE_TOKEN ${reason}. Set it to the token of the server, or unset it`
})

/**
 * The server of the flag `--server`, if there is one. Fails with `server/url` for an invalid address.
 */
export const find = Effect.gen(function*() {
  const given = yield* flag
  if (Option.isNone(given)) return Option.none<RemoteServer>()
  return Option.some<RemoteServer>({ url: yield* address(given.value), token: Redacted.given(Option.getOrUndefined(yield* token)) })
})
