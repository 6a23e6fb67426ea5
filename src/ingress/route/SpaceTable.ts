/**
 * The routes of an application with spaces: those of one space find it by its name.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { AnswerOf, Endpoint } from "../../contract/Endpoint.ts"
import type { Kernel } from "../../kernel/space/Kernel.ts"
import type { Reader, Space, Viewer } from "../../kernel/view/Space.ts"
import { exactly, type RoutedRequest, type Parts, type Reply, RouteTable } from "./RouteTable.ts"

/** An endpoint for readers, too. */
type Shown = Endpoint & { readonly access: "reader" }

/**
 * The routes of an application with spaces.
 */
export class SpaceTable extends RouteTable {
  private readonly kernel: Pick<Kernel["Service"], "opened" | "space">

  constructor(kernel: Pick<Kernel["Service"], "opened" | "space">, parts: Parts) {
    super(parts)
    this.kernel = kernel
  }

  /** The space of this name. Fails with `space/unknown` if it does not exist. */
  space(name: string): ReturnType<Kernel["Service"]["space"]> {
    return Effect.suspend(() => this.kernel.space(name, { create: false }))
  }

  /** Serves an endpoint of a space that exists to all callers but readers. */
  ofSpace<E extends Endpoint>(endpoint: E, handle: (space: Space, asked: RoutedRequest<E>) => Reply<E>): void {
    this.serve(endpoint, (asked) => Effect.flatMap(this.space(nameIn(asked)), (space) => replied(handle(space, asked))))
  }

  /** Serves an endpoint of a space that exists to readers, too. */
  toReaders<E extends Shown>(endpoint: E, handle: (reader: Reader, asked: RoutedRequest<E>, viewer: Viewer) => Reply<E>): void {
    this.readers.on(endpoint.method, endpoint.path, exactly(endpoint.path, (c) => this.answer<E>(endpoint, c, (asked) => {
      const { reader } = c.env as { readonly reader: Viewer }
      const reply = (space: Space): Reply<E> => handle(space.reader(reader), asked, reader)
      // A read ends with its request, so it is an effect as a whole.
      const opened = endpoint.effect === "reads" ? undefined : this.kernel.opened(nameIn(asked))
      return opened === undefined ? Effect.flatMap(this.space(nameIn(asked)), (space) => replied(reply(space))) : reply(opened)
    })))
  }
}

/** The name of the space in a path. */
const nameIn = ({ params }: { readonly params: unknown }): string => (params as Readonly<Record<string, string>>)["space"] ?? ""

/** The effect of a reply. */
const replied = <E>(reply: Reply<E>): Effect.Effect<AnswerOf<E> | Response, unknown> => {
  if (Effect.isEffect(reply)) return reply
  return reply instanceof Response ? Effect.succeed(reply) : Effect.tryPromise({ try: () => reply, catch: (failure) => failure })
}
