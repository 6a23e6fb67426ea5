/**
 * The flows of an open space, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import { InvalidFlowRequest } from "../../flow/FlowError.ts"
import * as Instance from "../../flow/Instance.ts"
import type { FlowBudget, FlowRequest } from "../../stage/Launch.ts"
import type { FlowAsk } from "../model/Ask.ts"
import type { Flowed } from "../model/Control.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { InstancePage, InstanceRow, SpaceFlows } from "../view/Space.ts"
import { type Around, MAX_PAGE } from "./SpaceRendezvous.ts"

/**
 * The flows of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveFlows implements SpaceFlows {
  private readonly around: Around

  constructor(around: Around) {
    this.around = around
  }

  start({ input, ...request }: FlowRequest): Effect.Effect<{ readonly inst: string; readonly beat: number }, ControlError> {
    return Effect.suspend(() => {
      let asked: Flowed | undefined
      const done = this.around.control(() => {
        const value = input === undefined ? undefined : Document.encode(input)
        // What is no data could not be journaled.
        const given = JSON.parse(JSON.stringify(request)) as typeof request
        return (answer) => asked = { kind: "flow", ask: { verb: "start", request: given, value }, inst: undefined, answer }
      })
      return Effect.map(done, (beat) => ({ inst: asked!.inst!, beat }))
    })
  }

  pause(inst: string): Effect.Effect<number, ControlError> {
    return this.ask({ verb: "pause", inst })
  }

  resume(inst: string): Effect.Effect<number, ControlError> {
    return this.ask({ verb: "resume", inst })
  }

  cancel(inst: string): Effect.Effect<number, ControlError> {
    return this.ask({ verb: "cancel", inst })
  }

  budget(inst: string, budget: FlowBudget): Effect.Effect<number, ControlError> {
    return this.ask({ verb: "budget", inst, budget: JSON.parse(JSON.stringify(budget)) as FlowBudget })
  }

  list({ after, limit }: { readonly after?: string | undefined; readonly limit: number }): Effect.Effect<InstancePage, ReadError> {
    return this.around.durably(() => {
      const most = Math.min(limit, MAX_PAGE)
      const keys = this.around.store.below(Instance.FOLDER, { limit: most + 1, ...(after === undefined ? {} : { after: `${Instance.FOLDER}/${after}` }) })
      const instances = keys.slice(0, most).flatMap((place) => this.find(Instance.idOf(place)) ?? [])
      return { instances, next: most > 0 && keys.length > most ? keys[most - 1]!.slice(Instance.FOLDER.length + 1) : undefined }
    })
  }

  get(inst: string): Effect.Effect<InstanceRow | undefined, ReadError> {
    return this.around.durably(() => this.find(Instance.isId(inst) ? inst : undefined))
  }

  private find(inst: string | undefined): InstanceRow | undefined {
    if (inst === undefined) return undefined
    const text = this.around.store.read(Instance.address(inst).key)
    const instance = text === undefined ? undefined : Instance.read(Document.read(Document.decode(text), []))
    return instance === undefined ? undefined : { inst, ...instance }
  }

  private ask(ask: FlowAsk & { readonly inst: string }): Effect.Effect<number, ControlError> {
    return this.around.control(() => {
      if (typeof ask.inst !== "string") throw new InvalidFlowRequest({ reason: "the id of an instance is a text" })
      return (answer) => ({ kind: "flow", ask, inst: undefined, answer })
    })
  }
}
