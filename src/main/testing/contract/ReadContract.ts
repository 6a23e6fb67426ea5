/**
 * The contract of persistence: documents, the journal, receipts and observations are read as they were written.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Batch, SpaceStore } from "../../../persistence/Persistence.ts"
import { atMost, holds, same } from "./Check.ts"
import { beat, cell, using, write } from "./Batches.ts"
import { everywhere, type Group, mixed } from "./StoreTest.ts"

/** The rows that are left of a scan. */
const rest = <Row>(scan: Iterator<Row>): ReadonlyArray<Row> => {
  const rows: Array<Row> = []
  for (let row = scan.next(); row.done !== true; row = scan.next()) rows.push(row.value)
  return rows
}

const written = (...keys: ReadonlyArray<string>) => keys.map((key) => cell(key, "1"))

/** Documents and the journal. */
export const reads: Group = {
  "shows at once what was appended, and what was deleted no more": () =>
    mixed({
      before: beat(0, { cells: [cell("/data/a", "1"), cell("/data/b", "1"), cell("/data/c", "1")] }),
      after: beat(1, { cells: [cell("/data/a", "2"), cell("/data/b", undefined), cell("/data/d", "2"), cell("/data/d", undefined)] })
    }, (store) => {
      same(["a", "b", "c", "d"].map((name) => store.read(`/data/${name}`)), ["2", undefined, "1", undefined])
    }),
  "lists the names directly below, scope by scope, in code-unit order": () =>
    mixed({
      before: beat(0, { cells: written("/b", "/a/z", "/a/\u{1f600}", "/a/x/deep", "/a/gone", "/a/mine?scope=user:1") }),
      after: beat(1, { cells: [...written("/a/\uff21", "/a/B", "/a/z", "/a/also?scope=user:1"), cell("/a/gone", undefined)] })
    }, (store) => {
      same(store.children("space", "/a"), ["B", "z", "\u{1f600}", "\uff21"])
      same(store.children("user:1", "/a"), ["also", "mine"])
      same(store.children("user:2", "/a"), [])
      same(store.children("space", "/"), ["b"])
      same(store.children("space", "/a/x"), ["deep"])
    }),
  "pages through all keys below, in code-unit order": () => {
    const before = ["/a/1", "/a/2", "/a/2/x", "/a/2-b", "/a/3?scope=user:1", "/a/\u{1f600}", "/a/4", "/a0", "/b"]
    const scoped = ["/a/3?scope=session:s", "/a/3?scope=user:1"]
    const all = ["/a/2", "/a/2-b", "/a/2/x", ...scoped, "/a/5", "/a/\u{1f600}", "/a/\uff21", "/a/\uff21/x"]
    return mixed({
      before: beat(0, { cells: written(...before) }),
      after: beat(1, {
        cells: [cell("/a/1", undefined), cell("/a/4", undefined), ...written("/a/5", "/a/3?scope=session:s", "/a/\uff21", "/a/\uff21/x")]
      })
    }, (store) => {
      for (const limit of [1, 2, 3, 100]) {
        const paged: Array<string> = []
        for (let after = ""; ;) {
          const page = store.below("/a", after === "" ? { limit } : { after, limit })
          atMost(page.length, limit)
          if (page.length === 0) break
          paged.push(...page)
          after = page.at(-1) ?? ""
        }
        same(paged, all)
      }
      same(store.below("/", { limit: 100 }), [...all, "/a0", "/b"])
    })
  },
  "keeps texts as they are": () => {
    const texts = ["", "é\u{1f600}\uffff", "\"\\", "x".repeat(3_000_000)]
    return everywhere(
      (store) => store.append(beat(0, { cells: texts.map((text, i) => cell(`/data/t${i}`, text)) })),
      (store) => holds(texts.every((text, i) => store.read(`/data/t${i}`) === text), "a text is not as it was written")
    )
  },
  "keeps long texts in each kind of row, until they are replaced or removed": () => {
    // Most parts of the first text would end within a pair.
    const texts = [`x${"\u{1f600}".repeat(600_000)}`, "\u00e9".repeat(600_000), "x".repeat(1_048_577)]
    const entry = { beat: 0, clock: 0, text: `{}\n${texts[0]}`, hash: "hash0" }
    const parts = (of: ReadonlyArray<string>): Partial<Batch> => ({
      cells: of.map((text, i) => cell(`/data/t${i}`, text)),
      queued: of.map((text, seq) => ({ seq, id: `s${seq}`, text })),
      observations: of.map((text, i) => ({ node: `n${i}`, text }))
    })
    const expect = (store: SpaceStore, of: ReadonlyArray<string>): void => {
      const rows = [of.map((_, i) => store.read(`/data/t${i}`)), [...store.queue()], store.observations()]
      const read = rows.map((kind) => kind.map((row) => typeof row === "object" ? row.text : row))
      holds(read.every((kind) => kind.length === of.length && kind.every((text, i) => text === of[i])), "a text is not as it was written")
      holds(store.entry(0)?.text === entry.text, "a journal row is not as it was written")
      Array.from(store.examine())
    }
    return Effect.gen(function*() {
      yield* using("shop", (store) => write(store, { ...beat(0, parts(texts)), entry }))
      yield* using("shop", (store) => Effect.sync(() => expect(store, texts)))
      const swapped = [texts[1] ?? "", "short", texts[0] ?? ""]
      yield* using("shop", (store) => write(store, beat(1, { dequeued: [0, 1, 2] }), beat(2, parts(swapped))))
      yield* using("shop", (store) => Effect.sync(() => expect(store, swapped)))
      const removed = {
        cells: texts.map((_, i) => cell(`/data/t${i}`, undefined)),
        dequeued: [0, 1, 2],
        observations: texts.map((_, i) => ({ node: `n${i}`, text: undefined }))
      }
      yield* using("shop", (store) => write(store, beat(3, removed)))
      yield* using("shop", (store) => Effect.sync(() => expect(store, [])))
    })
  },
  "scans the journal, whose numbers may have gaps": () => {
    const numbers = Array.from({ length: 150 }, (_, i) => i < 100 ? i : i * 10)
    return everywhere((store) => numbers.forEach((number) => store.append(beat(number))), (store) => {
      const scan = (from: number, to: number) => Array.from(store.scanJournal(from, to), (row) => row.beat)
      same(scan(0, Infinity), numbers)
      same(scan(98, 1010), [98, 99, 1000, 1010])
      same(scan(2000, 3000), [])
      same(store.entry(1010), beat(1010).entry)
      same(store.entry(500), undefined)
      same(store.head(), { beat: 1490, clock: 1_490_000, hash: "hash1490" })
    })
  },
  "lets what is flushed be scanned on without a gap": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        for (let n = 0; n < 200; n++) store.append(beat(n, { queued: [{ seq: n, text: String(n) }] }))
        const journal = store.scanJournal(0, Infinity)[Symbol.iterator]()
        const queue = store.queue()[Symbol.iterator]()
        const [beat0, queued0] = [journal.next().value, queue.next().value]
        yield* store.flush
        const numbers = Array.from({ length: 200 }, (_, n) => n)
        same([beat0, ...rest(journal)].map((row) => row?.beat), numbers)
        same([queued0, ...rest(queue)].map((row) => row?.seq), numbers)
      })),
  "lets what is flushed amid a scan of the queue be there once, and no more when it is taken": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ seq: from + i, text: String(from + i) }))
        yield* write(store, beat(0, { queued: rows(0, 150) }))
        store.append(beat(1, { queued: rows(150, 200), dequeued: [149] }))
        const queue = store.queue()[Symbol.iterator]()
        const first = queue.next().value
        yield* store.flush
        store.append(beat(2, { dequeued: [148, 199] }))
        same([first, ...rest(queue)].map((row) => row?.seq), [...rows(0, 148), ...rows(150, 199)].map(({ seq }) => seq))
      }))
}

/** Receipts, by the ids of signals. */
export const receipts: Group = {
  "finds the receipts of a signal by its id": () =>
    mixed({
      before: beat(0, { receipts: ([["x", "b"], ["y", "b"], ["x", "c"]] as const).map(([id, enzyme]) => ({ id, enzyme, beat: 0 })) }),
      after: beat(1, { receipts: [{ id: "x", enzyme: "a", beat: 1 }, { id: "x", enzyme: "c", beat: 1 }] })
    }, (store) => {
      same(store.receipts("x").map((row) => [row.id, row.enzyme, row.beat]), [["x", "a", 1], ["x", "b", 0], ["x", "c", 1]])
      same(store.receipts("y").map((row) => row.beat), [0])
      same(store.receipts("z"), [])
    }),
  "keeps the digest that a receipt came with, in its last form": () =>
    mixed({
      before: beat(0, { receipts: [{ id: "x", enzyme: "", beat: 0, digest: "d" }, { id: "y", enzyme: "", beat: 0, digest: "d" }] }),
      after: beat(1, { receipts: [{ id: "x", enzyme: "", beat: 0, digest: "e" }, { id: "x", enzyme: "a", beat: 1 }] })
    }, (store) => {
      same(store.receipts("x"), [{ id: "x", enzyme: "", beat: 0, digest: "e" }, { id: "x", enzyme: "a", beat: 1 }])
      same(store.receipts("y"), [{ id: "y", enzyme: "", beat: 0, digest: "d" }])
    }),
  "keeps the label that a receipt with a digest came with, also without an own id": () => {
    const event = { enzyme: "", beat: 0, digest: "d", label: ["pay", "\ud800\"]"] }
    const events = [{ ...event, id: "a" }, { ...event, id: "b", own: "x" }]
    return mixed({ before: beat(0, { receipts: events }), after: beat(1) }, (store) => {
      for (const event of events) same(store.receipts(event.id), [event])
      same(store.named("x", 10), ["b"])
    })
  },
  "finds the events of a caller's own id, those of the newest flush first": () => {
    const event = (id: string, own: string, beat: number) => ({ id, enzyme: "", beat, digest: "d", own })
    return mixed({
      before: beat(0, { receipts: [event("w", "a", 0), event("x", "b", 0), { id: "y", enzyme: "", beat: 0, digest: "d" }] }),
      after: beat(1, { receipts: [event("z", "a", 1), event("x", "b", 1), event("v", "\ud800\"\u0000]", 1)] })
    }, (store) => {
      same(store.named("a", 10), ["z", "w"])
      same(store.named("a", 1), ["z"])
      same(store.named("b", 10), ["x"])
      same(store.named("\ud800\"\u0000]", 10), ["v"])
      for (const none of ["", "w", "y", "c"]) same(store.named(none, 10), [])
      same(store.receipts("x"), [event("x", "b", 1)])
    })
  }
}

const row = (node: string, text: string | undefined = `{"of":"${node}"}`) => ({ node, text })

/** The rows that are kept of nodes. */
export const observations: Group = {
  "keeps what is observed of nodes, the newest of each, until it is taken away": () =>
    mixed({
      before: beat(0, { observations: [row("b"), row("a", "1"), row("c")] }),
      after: beat(1, { observations: [row("a", "2"), { node: "c", text: undefined }, { node: "none", text: undefined }] })
    }, (store) => same(store.observations(), [row("a", "2"), row("b")]))
}
