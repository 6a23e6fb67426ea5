/**
 * The answers of the Worker that concern no space: pages, lists and refusals.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import * as Redacted from "../../cell/Redacted.ts"
import type { Value } from "../../cell/Value.ts"
import { TokenAdmin } from "../../access/TokenAdmin.ts"
import { REFERENCE } from "../../contract/Paths.ts"
import * as Spaces from "../../contract/Spaces.ts"
import type { CallerAccess } from "../../ingress/access/Caller.ts"
import * as RuntimeLists from "../../ingress/route/RuntimeLists.ts"
import * as Pages from "../../ingress/Pages.ts"
import { RouteTable } from "../../ingress/route/RouteTable.ts"
import * as SignalRequest from "../../ingress/signal/SignalRequest.ts"
import * as Slice from "../../ingress/route/Slice.ts"
import * as SessionRoutes from "../../ingress/route/SessionRoutes.ts"
import * as TokenRoutes from "../../ingress/route/TokenRoutes.ts"
import type * as Webhooks from "../../ingress/Webhooks.ts"
import { detached } from "../../ingress/wire/Runner.ts"
import { SpaceStopped } from "../../kernel/model/SpaceError.ts"
import { InvalidConfig } from "../../loader/InvalidConfig.ts"
import * as Page from "../../loader/Page.ts"
import { checkSpaceName } from "../../persistence/Persistence.ts"
import * as Directory from "./Directory.ts"
import * as Gate from "./Gate.ts"
import type { Env } from "./Platform.ts"
import * as Pulled from "./Pulled.ts"
import type { Settings } from "./Settings.ts"

/** The settings and the bindings of a request. */
interface Scene {
  readonly settings: Settings
  readonly env: Env
}

/** A request that concerns no space, or not a valid one. */
export interface FrontRequest {
  readonly request: Request
  /** The reader or the token that sent it; neither for the operator. */
  readonly by: CallerAccess
  /** The name in its path that is not one of a space. */
  readonly misnamed: string | undefined
}

/**
 * Creates the answers to requests that concern no space.
 *
 * @throws PersistenceError
 */
export const make = (scene: Scene): (asked: FrontRequest) => Promise<Response> => {
  const { settings: { config: { ingress, kernel, pages }, load, reporter, sessions, slices, tokens, webhooks } } = scene
  const table = new RouteTable({ reporter, tokens, absent: (path) => Slice.absentAt(slices, path) })
  RuntimeLists.routes(table, slices, Effect.map(load, ({ enzymes }) => enzymes))
  table.serve(Spaces.list, ({ query: { after = "", limit } }) => listed(scene, { after, limit }))
  const rendered = Page.withTexts(pages, scriptsIn(scene))
  for (const [path, page] of Object.entries(rendered)) table.page(path, ({ signal }) => Pages.send(page, reading(scene), signal))
  const { REFERENCE: files } = scene.env
  if (files !== undefined) for (const path of REFERENCE) table.page(path, (request) => files.fetch(request))
  TokenRoutes.routes(table, new TokenAdmin({ set: tokens, draw: Gate.draw }))
  SessionRoutes.routes(table, { access: sessions, millis: kernel.limits.sessionMillis, hasHome: Object.hasOwn(pages, "/") })
  const hooked = webhooks?.(ingress, { take: taking(scene), report: table.report, now: Date.now })
  return async ({ by, misnamed, request }) => {
    if (misnamed !== undefined) checkSpaceName(misnamed)
    return hooked?.(request)?.catch(table.failed) ?? table.fetch(request, by)
  }
}

/** Reads the scripts of pages, which a build writes as files beside the Worker. An isolate reads each of them once. */
const scriptsIn = ({ env: { REFERENCE: files }, settings: { place, scripts = {} } }: Scene) => {
  // Texts and no promises, which would belong to the request that made them.
  const read = new Map<string, string>()
  const refuse = (file: string, reason: string) => new InvalidConfig({ reason: `a page has the module ${file}, and ${reason}`, place })
  return async (file: string): Promise<string> => {
    const known = read.get(file)
    if (known !== undefined) return known
    const path = scripts[file]
    if (path === undefined) throw refuse(file, "a Worker bundles none. Make the Worker with systole build")
    const found = await files?.fetch(new Request(`https://assets${path}`))
    if (found?.ok !== true) throw refuse(file, `the binding REFERENCE has no file ${path}. Deploy the folder assets of this build with it`)
    const text = await found.text()
    read.set(file, text)
    return text
  }
}

/** Hands a verified signal to the object of its space. Its payload travels as its text, which keeps each kind of value. */
const taking = ({ env, settings: { proof } }: Scene): Webhooks.Take => async (space, { payload, ...signal }) => {
  checkSpaceName(space)
  SignalRequest.check({ ...signal, payload })
  const text = payload === undefined ? undefined : Document.entry(payload)
  return env.SPACES.getByName(space).post({ proof: Redacted.value(proof), signal, payload: text }).catch((failure: unknown) => {
    throw stopped(space, failure)
  })
}

/** A page of the names of spaces, which the directory holds. */
const listed = ({ env, settings: { proof } }: Scene, page: { readonly after: string; readonly limit: number }) =>
  Effect.map(
    Effect.tryPromise({
      try: () => env.DIRECTORY.getByName(Directory.NAME).list(Redacted.value(proof), page),
      catch: (failure) => stopped(Directory.NAME, failure)
    }),
    ({ next, spaces }) => ({ spaces, next: next ?? undefined })
  )

/** The services of a page: its reads go to the objects. */
const reading = ({ env, settings: { hash, proof } }: Scene): Pages.Services => ({
  runner: detached,
  hash,
  read: ({ address, space, wait }) => Effect.tryPromise({
    try: async (): Promise<Value> => {
      checkSpaceName(space)
      const pulled = await env.SPACES.getByName(space).pull({ proof: Redacted.value(proof), address, wait }).catch((failure: unknown) => {
        throw stopped(space, failure)
      })
      return Pulled.valueOf(pulled)
    },
    catch: (failure) => failure
  })
})

/** The object of this name failed at a call, or was reset. */
const stopped = (space: string, failure: unknown): SpaceStopped => new SpaceStopped({ space, reason: String(failure) })
