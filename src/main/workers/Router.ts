/**
 * The Worker in front of the objects: it checks credentials, and passes each request to the object of its space.
 *
 * It holds no state, and wakes no object for a request that is refused.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Value } from "../../cell/Value.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import * as Access from "../../ingress/Access.ts"
import * as App from "../../ingress/App.ts"
import * as Json from "../../ingress/Json.ts"
import * as Pages from "../../ingress/Pages.ts"
import * as Problem from "../../ingress/Problem.ts"
import * as ReaderRoutes from "../../ingress/ReaderRoutes.ts"
import { SpaceStopped } from "../../kernel/model/SpaceError.ts"
import * as Loader from "../../loader/Loader.ts"
import { checkSpaceName } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import * as Directory from "./Directory.ts"
import type { Env } from "./Platform.ts"
import type { Settings } from "./Settings.ts"

/** The paths of one space. */
const SPACE = /^\/v1\/spaces\/([^/]+)(?:\/|$)/

/**
 * Creates the handler of requests.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (settingsOf: (env: Env) => Settings) => async (request: Request, env: Env): Promise<Response> => {
  const path = Access.pathOf(request)
  if (path === "/livez" || path === "/readyz") return Json.answer({ status: path === "/livez" ? "live" : "ready" })
  let settings: Settings
  try {
    settings = settingsOf(env)
  } catch (failure) {
    // Without settings there is no reporter.
    console.error(failure instanceof Error ? failure.message : String(failure))
    return Problem.response(failure)
  }
  try {
    const { reader, refused } = settings.access(request)
    if (refused !== undefined) return Problem.response(refused)
    const space = SPACE.exec(path)?.[1]
    if (space !== undefined) return await forwarded({ env, settings }, decoded(space), request)
    if (reader !== undefined) return Problem.response(ReaderRoutes.closed(path, reader))
    return await answered({ env, settings }, path, request)
  } catch (failure) {
    if (Problem.of(failure).status >= 500) settings.reporter.report(UnexpectedFailure.of(failure))
    return Problem.response(failure)
  }
}

/** The settings and the bindings of a request. */
interface Scene {
  readonly settings: Settings
  readonly env: Env
}

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Passes a request to the object of a space. The platform resets an object with a failed commit, and rejects its calls. */
const forwarded = async ({ env, settings }: Scene, space: string, request: Request): Promise<Response> => {
  try {
    checkSpaceName(space)
  } catch (failure) {
    return Problem.response(failure)
  }
  try {
    return await env.SPACES.getByName(space).fetch(request)
  } catch (failure) {
    settings.reporter.report({ ...UnexpectedFailure.of(failure), space })
    return Problem.response(new SpaceStopped({ space, reason: "its object was reset" }))
  }
}

/** Answers what concerns no space. */
const answered = async (scene: Scene, path: string, request: Request): Promise<Response> => {
  const { env, settings: { config: { pages }, proof } } = scene
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined
  if (request.method !== "GET" && request.method !== "HEAD") return Problem.response(absent(request.method, path))
  if (page !== undefined) return Pages.send(page, reading(scene), request.signal)
  if (path === "/v1/enzymes") return enzymes(scene.settings)
  if (path !== "/v1/spaces") return Problem.response(absent(request.method, path))
  const asked = App.spacesPage(Object.fromEntries(new URL(request.url).searchParams))
  const { next, spaces } = await env.DIRECTORY.getByName(Directory.NAME).list(proof, asked)
  return Json.answer({ spaces, next })
}

const absent = (method: string, path: string) =>
  new Problem.RequestRefused({ code: "route/absent", reason: `There is nothing at ${method} ${path.slice(0, 200)}` })

const enzymes = async ({ config: { enzymes, kernel: { limits }, plugins }, modules }: Settings): Promise<Response> => {
  const found = await Effect.runPromise(Loader.load({ enzymes, plugins, required: [], millis: limits.moduleMillis }).pipe(
    Effect.provide(modules)
  ))
  return Json.answer({ enzymes: found.enzymes.map(({ enzyme, hash }) => ({ ...App.describe(enzyme), hash })) })
}

/** The services of a page: its reads go to the objects. */
const reading = ({ env, settings: { hash, proof } }: Scene): Pages.Services => ({
  hash,
  read: ({ address, space, wait }) => Effect.tryPromise({
    try: async (): Promise<Value> => {
      checkSpaceName(space)
      return await env.SPACES.getByName(space).pull({ proof, address, wait })
    },
    catch: (failure) => failure instanceof PersistenceError ? failure : new SpaceStopped({ space, reason: String(failure) })
  })
})
