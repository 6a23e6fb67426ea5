/**
 * The store of a control file on a disk.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Hash } from "systole"
import { Disk, type DiskFailed } from "systole/cli"
import { ControlStore } from "./ControlStore.ts"
import * as Facts from "./Facts.ts"
import * as Lease from "./Lease.ts"
import * as StoredFile from "./StoredFile.ts"

/** The wait before an absent or empty file counts as gone or damaged, because an editor may be in the middle of a save. */
const SETTLE = "200 millis"

/**
 * The store of the file at a place.
 */
export const make = Effect.fn("FileStore.make")(function*(place: StoredFile.Place) {
  const disk = yield* Disk
  const services = yield* Effect.context<Disk | Hash>()
  const over = <A, E, R extends Disk | Hash>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, services)
  // Commands that only read take no lease.
  let held: Lease.Check = Effect.void
  const write = <A, R extends Disk | Hash>(effect: Effect.Effect<A, DiskFailed, R>) =>
    Effect.andThen(Effect.suspend(() => held), over(effect))
  return ControlStore.of({
    place,
    remedy: "Correct it, or put the latest valid version back with systole agent history --restore",
    lease: (kind) => Effect.flatMap(Effect.provideService(Lease.take(place, kind), Disk, disk), (check) =>
      Effect.asVoid(Effect.acquireRelease(Effect.sync(() => held = check), () => Effect.sync(() => held = Effect.void)))),
    held: Effect.suspend(() => held),
    tend: write(StoredFile.tend(place)),
    version: disk.version(place.path),
    read: disk.read(place.path),
    settle: Effect.sleep(SETTLE),
    replace: (from, to) => write(StoredFile.replace(place, from, to)),
    backUp: (bytes) => write(StoredFile.backUp(place, bytes)),
    noteValid: (bytes) => write(StoredFile.noteValid(place, bytes)),
    restore: (from) => write(StoredFile.restore(place, from)),
    copies: over(StoredFile.copies(place)),
    isFile: (path) => Facts.locate(disk, place.folder, path) === place.path,
    capture: (actions) => over(Facts.capture(place, actions))
  })
})

/**
 * The store of the file at a path.
 */
export const layer = (path: string): Layer.Layer<ControlStore, DiskFailed, Disk | Hash> =>
  Layer.effect(ControlStore, Effect.flatMap(StoredFile.place(path), make))
