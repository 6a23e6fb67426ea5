/**
 * The XML documents of S3: lists and deletions of objects.
 *
 * @module
 */
import type { ListedObject, ObjectPage } from "systole"

/** The characters of the entities of XML that have a name. */
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'" }

/** The largest code point of Unicode. */
const MAX_CODE_POINT = 0x10_ffff

/** A text of XML without its entities, which a prefix may need. An entity that is none stays. */
const plain = (text: string): string =>
  text.replaceAll(/&(#x?)?([0-9a-z]{1,7});/gi, (entity, mark: string | undefined, name: string) => {
    if (mark === undefined) return NAMED[name] ?? entity
    const point = Number.parseInt(name, mark === "#" ? 10 : 16)
    return point <= MAX_CODE_POINT ? String.fromCodePoint(point) : entity
  })

/** A text as an XML document has it. */
const escaped = (text: string): string => text.replaceAll(/[&<>"'\r]/g, (one) => `&#${one.charCodeAt(0)};`)

/** The contents of the elements of a name, of which none holds another of it. One without an end ends the search. */
const elements = (xml: string, name: string): ReadonlyArray<string> => {
  const [begin, end] = [`<${name}>`, `</${name}>`]
  const contents: Array<string> = []
  for (let at = xml.indexOf(begin); at >= 0;) {
    const [from, to] = [at + begin.length, xml.indexOf(end, at)]
    if (to < 0) break
    contents.push(xml.slice(from, to))
    at = xml.indexOf(begin, to)
  }
  return contents
}

const textOf = (xml: string, name: string): string => plain(elements(xml, name)[0] ?? "")

/** The objects of a list, by their keys after the prefix of the configuration. */
const objectsOf = (xml: string, prefix: string): ReadonlyArray<ListedObject> =>
  elements(xml, "Contents").flatMap((object) => {
    const name = textOf(object, "Key")
    const modified = Date.parse(textOf(object, "LastModified"))
    return !name.startsWith(prefix) || Number.isNaN(modified) ? [] : [{ key: name.slice(prefix.length), modified }]
  })

/** The page of a list. */
export const page = (xml: string, prefix: string): ObjectPage =>
  ({ objects: objectsOf(xml, prefix), more: /<IsTruncated>true<\/IsTruncated>/.test(xml) })

/** The document of a deletion, whose answer has the failures alone. */
export const deletion = (names: ReadonlyArray<string>): string => {
  const objects = names.map((name) => `<Object><Key>${escaped(name)}</Key></Object>`).join("")
  return `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`
}

/** The objects of a deletion that are still there, with the code of each. */
export const failuresIn = (xml: string): ReadonlyArray<{ readonly name: string; readonly code: string }> =>
  elements(xml, "Error")
    .map((error) => ({ name: textOf(error, "Key"), code: textOf(error, "Code") }))
    .filter(({ code }) => code !== "NoSuchKey")
