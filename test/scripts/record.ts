/**
 * `npm run record`: records the stores again, after an intended change of the stored form.
 *
 * @module
 */
import * as Recording from "../recorded/Recording.ts"
import { all } from "../recorded/Stories.ts"

for (const story of all) {
  await Recording.record(story)
  console.log(`recorded ${story.name}`)
}
