/**
 * Large content: uploads beyond 32 MiB into the content store, and reads from there.
 *
 * @module
 */
import type { Feature } from "../Feature.ts"
import { clear, LargeUploads } from "../../kernel/space/LargeUploads.ts"
import * as ContentProvider from "../../loader/ContentProvider.ts"

/**
 * The feature `content`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "content",
  content: { open: (state, uploads, store) => new LargeUploads(state, uploads, store), clear },
  contentStore: ContentProvider.open
}
