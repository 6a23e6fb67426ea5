/**
 * The flows of an open space, as the outside uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import { InvalidFlowRequest } from "../../flow/FlowError.ts"
import * as Instance from "../../flow/Instance.ts"
import type { FlowCommand } from "../../flow/Ledger.ts"
import type { FlowBudget, FlowRequest } from "../../stage/Launch.ts"
import { type PageRequest, valueAt } from "../view/CellList.ts"
import type { ListedStore } from "../view/CountedRows.ts"
import type { ControlError, ReadError } from "../view/Expected.ts"
import type { InstancePage, InstanceRow, SpaceFlows } from "../view/Space.ts"
import { LedgerClient, type LedgerHost } from "./LedgerClient.ts"

const rowOf = (store: ListedStore, inst: string): InstanceRow | undefined => {
  const instance = Instance.isId(inst) ? Instance.read(valueAt(store, Instance.address(inst).key)) : undefined
  return instance === undefined ? undefined : { inst, ...instance }
}

/**
 * The flows of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveFlows implements SpaceFlows {
  private readonly client: LedgerClient<FlowCommand, string, InstanceRow>

  constructor(host: LedgerHost) {
    this.client = new LedgerClient(host, "flow", { folder: Instance.FOLDER, isDeep: false, rowOf })
  }

  start({ input, ...request }: FlowRequest): Effect.Effect<{ readonly inst: string; readonly beat: number }, ControlError> {
    const done = this.client.ask(() => {
      const value = input === undefined ? undefined : Document.encode(input)
      // A request that is no data could not be journaled.
      return { verb: "start", request: JSON.parse(JSON.stringify(request)) as typeof request, value }
    })
    return Effect.map(done, ({ beat, reply }) => ({ inst: reply, beat }))
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

  list(page: PageRequest): Effect.Effect<InstancePage, ReadError> {
    return Effect.map(this.client.records.list(page), ({ next, rows }) => ({ instances: rows, next }))
  }

  get(inst: string): Effect.Effect<InstanceRow | undefined, ReadError> {
    return this.client.records.get(inst)
  }

  private ask(command: FlowCommand & { readonly inst: string }): Effect.Effect<number, ControlError> {
    return this.client.tell(() => {
      if (typeof command.inst !== "string") throw new InvalidFlowRequest({ reason: "the id of an instance is a text" })
      return command
    })
  }
}
