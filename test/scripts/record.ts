/**
 * `npm run record [-- PART…]`: records the stores of new stories, of which the names contain one of the parts. Without a
 * part it records all anew, after an intended change of the stored form. `answers` records the answers of HTTP.
 *
 * @module
 */
import * as HttpAnswers from "../recorded/HttpAnswers.ts"
import * as Recording from "../recorded/Recording.ts"
import { all } from "../recorded/Stories.ts"
import * as Options from "./Options.ts"

const { others: parts } = Options.read({
  script: "record",
  about: "Records the stores of the stories whose names contain one of the parts, and answers of HTTP by answers; without a part, all.",
  others: "[PART …]",
  options: {}
})
const chosen = parts.length === 0 ? all : all.filter(({ name }) => parts.some((part) => name.includes(part)))
for (const story of chosen) {
  await Recording.record(story)
  console.log(`recorded ${story.name}`)
}
if (parts.length === 0 || parts.includes("answers")) {
  await HttpAnswers.record()
  console.log("recorded the answers of HTTP")
}
