/**
 * A build under `deno serve`. Deno listens by itself, and calls the handler of a module.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Fetch } from "../cli/Host.ts"
import type { BuiltProject } from "./composition/Built.ts"
import * as BuiltProgram from "./BuiltProgram.ts"
import { platform } from "./deno.ts"
import * as Main from "./Main.ts"

/** The address at which Deno listens. */
interface Address {
  readonly hostname: string
  readonly port: number
}

/** The default export of a module for `deno serve`. */
export interface Handler {
  readonly fetch: (request: Request, info?: { readonly remoteAddr?: { readonly hostname?: string } }) => ReturnType<Fetch>
  readonly onListen: (address: Address) => void
}

/** The requests in progress, for the end of the process. */
class Requests {
  private readonly serving = Promise.withResolvers<Fetch>()
  private readonly done: Array<() => void> = []
  private pending = 0
  private isClosed = false

  /** Answers requests from now on. Earlier ones have waited for it. */
  open(fetch: Fetch): void {
    this.serving.resolve(fetch)
  }

  /** Refuses further requests, and resolves when the pending ones are answered. */
  close(): Promise<void> {
    this.isClosed = true
    return this.pending === 0 ? Promise.resolve() : new Promise((resolve) => void this.done.push(resolve))
  }

  async answer(request: Request, address?: () => string | undefined): Promise<Response> {
    if (this.isClosed) return new Response(null, { status: 503 })
    this.pending++
    try {
      return await (await this.serving.promise)(request, address)
    } finally {
      if (--this.pending === 0) for (const resolve of this.done) setTimeout(resolve)
    }
  }
}

/**
 * Starts the project of a build when Deno listens. The address of the configuration has no effect. Without a token, an address that
 * other machines reach ends the process.
 */
export const start = (built: BuiltProject, args: ReadonlyArray<string>): Handler => {
  const listening = Promise.withResolvers<Address>()
  const requests = new Requests()
  const program: Main.Program = {
    ...BuiltProgram.program(built, ["start", ...args]),
    config: (environment) =>
      Effect.flatMap(Effect.promise(() => listening.promise), ({ hostname: host, port }) =>
        BuiltProgram.config({ ...built, settings: { ...built.settings, host, port } }, environment))
  }
  const serve: Main.Platform["serve"] = async (fetch) => {
    const { port } = await listening.promise
    requests.open(fetch)
    // The open connections end with the process.
    return { port, close: () => requests.close(), drop: () => undefined }
  }
  Main.run({ ...platform, serve }, program)
  return { fetch: (request, info) => requests.answer(request, () => info?.remoteAddr?.hostname), onListen: listening.resolve }
}
