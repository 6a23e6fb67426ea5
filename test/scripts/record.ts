/**
 * `npm run record`: makes the recorded stores anew, after the stored form changed on purpose.
 *
 * @module
 */
import * as Recording from "../recorded/Recording.ts"
import { all } from "../recorded/Stories.ts"

for (const story of all) {
  await Recording.record(story)
  console.log(`recorded ${story.name}`)
}
