/**
 * The answers of the Worker that concern no space: pages, lists and refusals.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Value } from "../../cell/Value.ts"
import * as App from "../../ingress/App.ts"
import * as Json from "../../ingress/Json.ts"
import * as Lists from "../../ingress/Lists.ts"
import * as Pages from "../../ingress/Pages.ts"
import * as Problem from "../../ingress/Problem.ts"
import * as ReaderRoutes from "../../ingress/ReaderRoutes.ts"
import * as Slice from "../../ingress/Slice.ts"
import { SpaceStopped } from "../../kernel/model/SpaceError.ts"
import type { Clearance } from "../../kernel/view/Space.ts"
import { checkSpaceName } from "../../persistence/Persistence.ts"
import * as Directory from "./Directory.ts"
import type { Env } from "./Platform.ts"
import * as Pulled from "./Pulled.ts"
import type { Settings } from "./Settings.ts"

/** The settings and the bindings of a request. */
interface Scene {
  readonly settings: Settings
  readonly env: Env
}

/** A request that concerns no space, or not a valid one. */
export interface Asked {
  readonly request: Request
  readonly path: string
  /** The reader that sent it; `undefined` for the operator. */
  readonly reader: Clearance | undefined
  /** The name in its path that is not one of a space. */
  readonly misnamed: string | undefined
}

/**
 * Answers a request that concerns no space.
 *
 * @throws RequestRefused, PersistenceError, SpaceStopped
 * @category constructors
 * @since 0.1.0
 */
export const answer = async (scene: Scene, { misnamed, path, reader, request }: Asked): Promise<Response> => {
  if (misnamed !== undefined) checkSpaceName(misnamed)
  if (reader !== undefined) return Problem.response(ReaderRoutes.closed(path, reader))
  return answered(scene, path, request)
}

/** The path of the list of spaces, which the directory holds. */
const SPACES = "/v1/spaces"

/** Answers what concerns no space. */
const answered = async (scene: Scene, path: string, request: Request): Promise<Response> => {
  const { env, settings: { config: { pages }, load, proof, slices } } = scene
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined
  const lists = Lists.of(slices)
  const list = Object.hasOwn(lists, path) ? lists[path] : undefined
  if (page === undefined && list === undefined && path !== SPACES) {
    return Problem.response(Slice.absentAt(slices, path) ?? absent(request.method, path))
  }
  const refused = Problem.unlessRead(request, path)
  if (refused !== undefined) return refused
  if (page !== undefined) return Pages.send(page, reading(scene), request.signal)
  const query = Object.fromEntries(new URL(request.url).searchParams)
  if (list !== undefined) return Json.answer(Lists.page(list, (await Effect.runPromise(load)).enzymes, query))
  const asked = App.spacesPage(query)
  const { next, spaces } = await env.DIRECTORY.getByName(Directory.NAME).list(proof, asked).catch((failure: unknown) => {
    throw stopped(Directory.NAME, failure)
  })
  return Json.answer({ spaces, next })
}

const absent = (method: string, path: string) =>
  new Problem.RequestRefused({ code: "route/absent", reason: `There is nothing at ${method} ${path.slice(0, 200)}` })

/** The services of a page: its reads go to the objects. */
const reading = ({ env, settings: { hash, proof } }: Scene): Pages.Services => ({
  hash,
  read: ({ address, space, wait }) => Effect.tryPromise({
    try: async (): Promise<Value> => {
      checkSpaceName(space)
      const pulled = await env.SPACES.getByName(space).pull({ proof, address, wait }).catch((failure: unknown) => {
        throw stopped(space, failure)
      })
      return Pulled.valueOf(pulled)
    },
    catch: (failure) => failure
  })
})

/** The object of this name failed at a call, or was reset. */
const stopped = (space: string, failure: unknown): SpaceStopped => new SpaceStopped({ space, reason: String(failure) })
