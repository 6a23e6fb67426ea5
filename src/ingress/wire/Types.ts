/**
 * The types of a space, from the cells of its schema.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { types } from "../../contract/Cells.ts"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import type { Page, Reader, Space } from "../../kernel/view/Space.ts"
import { SCHEMA } from "../../stage/Labels.ts"

/** The types on one answer. */
type Types = AnswerOf<typeof types>

/** A page of the types that a reader sees. */
export const ofReader = (reader: Pick<Reader, "below" | "get">, page: Page) =>
  Effect.gen(function*() {
    const { keys, next } = yield* reader.below(SCHEMA, page)
    const found = yield* Effect.forEach(keys, (key) => reader.get(key))
    // A type may be gone since the list was read.
    return { types: found.filter((type) => type !== undefined) as unknown as Types["types"], next }
  })

/** A page of all types. */
export const of = (space: Pick<Space, "cells" | "get">, page: Page) =>
  ofReader({
    below: (id, page) => Effect.map(space.cells(id, page), ({ cells, next }) => ({ keys: cells.map(({ key }) => key), next })),
    get: (key) => space.get(key)
  }, page)
