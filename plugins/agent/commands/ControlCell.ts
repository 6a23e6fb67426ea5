/**
 * A control file in a cell, as the commands of the agent see it: a snapshot, which they only read.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { type Answer, checkHandled, Client, CliFailure, exits, PageList, SpaceArgument } from "systole/cli"
import { APPROVE, SAVE } from "../cells/CellAgent.ts"
import * as CellFile from "../cells/CellFile.ts"
import * as CellStore from "../cells/CellStore.ts"
import * as ControlFiles from "../document/ControlFile.ts"

/** Commands over a file in a cell make plans alone. The enzymes of the space write. */
const refuse = (): never => {
  throw new Error("a command wrote to a control file in a cell")
}

/**
 * Reads a control file with its settings from a space, which has to exist.
 */
export const read = Effect.fn("ControlCell.read")(function*(cell: string, space: string) {
  const place = CellStore.place(cell)
  if (place === undefined) {
    return yield* new CliFailure({
      exit: exits.usage,
      code: "agent/cell",
      message: `--cell ${cell} is no control file. Name a cell such as ${CellStore.FOLDER}/heartbeat.md`
    })
  }
  const client = yield* Client
  const path = SpaceArgument.path(space)
  const content = (yield* client.ask<{ readonly content?: unknown } | null>(`${path}/cells${cell}`, { isValue: true }))?.content
  if (!CellStore.isContent(content)) {
    return yield* new CliFailure({
      exit: exits.absent,
      code: "agent/file-absent",
      message: `The cell ${cell} of space "${space}" holds no control file: it has no address of content. ` +
        `Save one with the signal ${SAVE}`
    })
  }
  // The text of a confidential file is in a cell.
  const bytes = yield* client.bytes(`${path}/blobs/${content.slice("/cas/".length)}`).pipe(
    Effect.catch((error) => error.exit === exits.absent
      ? Effect.map(client.ask<string>(`${path}/cells${CellStore.textCell(place, content)}`, { isValue: true }), ControlFiles.encode)
      : Effect.fail(error))
  )
  const names = yield* PageList.readAll<string>(`${path}/cells${CellStore.FOLDER}?list`, "names")
  const settings = yield* client.ask<unknown>(`${path}/cells${CellFile.SETTINGS}`, { isValue: true }).pipe(
    Effect.catch((error) => error.exit === exits.absent ? Effect.succeed(undefined) : Effect.fail(error))
  )
  const get = (address: string) => address === content ? bytes : address === `${cell}#/content` ? content : undefined
  const cells = { get: get as CellStore.Cells["get"], list: () => names, now: 0, blob: refuse, set: refuse }
  return { place, ...CellFile.settingsOf(settings), store: CellStore.make(cells, place) }
})

/**
 * Approves a program of a file in a cell. Its enzyme wakes the agent.
 */
export const approve = Effect.fn("ControlCell.approve")(function*(
  { cell, hash, space }: { readonly cell: string; readonly hash: string; readonly space: string }
) {
  const client = yield* Client
  const body = { signal: APPROVE, target: cell, payload: { hash } }
  yield* checkHandled(yield* client.ask<Answer>(`${SpaceArgument.path(space)}/signals`, {
    method: "POST", isOfEvent: true, body, headers: { prefer: "wait=10" }
  }))
})
