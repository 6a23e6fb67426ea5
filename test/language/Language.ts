/**
 * The language of the sources, measured: docstrings, comments, long lines and non-null assertions.
 *
 * @module
 */

/** A comment of a source file. */
interface Comment {
  readonly text: string
  readonly isDoc: boolean
}

/** The figures of a file or a folder. All are counts. */
export interface Figures {
  /** Words of docstrings, code left out. */
  readonly words: number
  /** The indefinite words among them. */
  readonly indefinite: number
  readonly docstrings: number
  /** Docstrings that open with What or Who. */
  readonly openings: number
  /** Sentences of docstrings with more than 35 words. */
  readonly longSentences: number
  readonly lines: number
  /** Lines with more than 140 characters. */
  readonly longLines: number
  /** Non-null assertions. */
  readonly assertions: number
  /** Comments that cite a page outside the repository. */
  readonly citations: number
}

/** The most words of a sentence. */
const MAX_WORDS = 35

/** The most characters of a line. */
const MAX_LINE = 140

const indefinite = new Set([
  "what", "whatever", "who", "whoever", "whom", "whose", "those",
  "nobody", "somebody", "anybody", "something", "anything", "nothing"
])

const outside = /\b(?:Architecture, sections?|[Ss]eeds? 00\d|semantics\.md|house\.md|architecture\.md)\b/

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/
const TEMPLATE = /`(?:[^`\\]|\\[\s\S])*`/
const REGEXP = /\/(?![*/\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*(?=[\s.,;)\]])/

/** The comments of a source, and the source without its comments and literals. */
const split = (source: string): { readonly comments: ReadonlyArray<Comment>; readonly code: string } => {
  const comments: Array<Comment> = []
  const token = new RegExp([COMMENT, STRING, TEMPLATE, REGEXP].map(({ source }) => source).join("|"), "g")
  const code = source.replace(token, (found) => {
    const text = found.replace(/^\/\*+|\*\/$|^\/\//g, "").replace(/^\s*\* ?/gm, "")
    if (/^\/[*/]/.test(found)) comments.push({ isDoc: found.startsWith("/**"), text })
    return "\"\""
  })
  return { comments, code }
}

/** The parts of a docstring that are no prose: examples, tags and indented blocks. */
const APART = [/```[\s\S]*?```/g, /^\s*@(?:example|category|since|module|throws)[^\n]*$/gm, /^ {4,}[^\n]*$/gm]

/** The prose of a docstring; code counts as one word. */
const prose = (text: string): string =>
  APART.reduce((left, part) => left.replaceAll(part, ""), text).replaceAll(/`[^`\n]*`|\{@link [^}]*\}/g, "code").trim()

const wordsOf = (text: string): ReadonlyArray<string> => text.match(/[A-Za-z][A-Za-z'-]*/g) ?? []

const sentencesOf = (text: string): ReadonlyArray<string> => text.split(/[.!?:](?:\s|$)|\n\s*\n|\n\s*[-|]/)

/** The figures of one source file. */
export const measure = (source: string): Figures => {
  const { code, comments } = split(source)
  const texts = comments.filter(({ isDoc }) => isDoc).map(({ text }) => prose(text))
  const words = texts.flatMap(wordsOf)
  const lines = source.split("\n")
  return {
    words: words.length,
    indefinite: words.filter((word) => indefinite.has(word.toLowerCase())).length,
    docstrings: texts.length,
    openings: texts.filter((text) => /^(?:What|Who)(?:ever|se|m)?\b/.test(text)).length,
    longSentences: texts.flatMap(sentencesOf).filter((sentence) => wordsOf(sentence).length > MAX_WORDS).length,
    lines: lines.length,
    longLines: lines.filter((line) => line.length > MAX_LINE).length,
    assertions: (code.match(/[\w)\]"]!(?=[.,;:)\]}\s[(?]|$)(?!=)/gm) ?? []).length,
    citations: comments.filter(({ text }) => outside.test(text)).length
  }
}

/** The parts of a page that are no prose: code blocks and comments. */
const APART_ON_PAGES = [/^```[\s\S]*?^```$/gm, /^ {4,}[^\n]*$/gm, /<!--[\s\S]*?-->/g]

/** The prose of a page, in pieces: paragraphs, items, headings, and the cells of tables. */
const piecesOf = (text: string): ReadonlyArray<string> =>
  APART_ON_PAGES.reduce((left, part) => left.replaceAll(part, "\n"), text)
    .replaceAll(/`[^`\n]*`|<[^>\n]*>/g, "code").replaceAll(/\]\([^)]*\)/g, "]").replaceAll("**", "")
    .split(/\n\s*\n|\n(?=\s*(?:[-#>|]|\d+\.) ?)|\|/).map((piece) => piece.trim()).filter((piece) => piece !== "")

/** The figures of a README page, whose paragraphs count as docstrings. */
export const measurePage = (text: string): Figures => {
  const pieces = piecesOf(text)
  const words = pieces.flatMap(wordsOf)
  return {
    ...measure(""),
    words: words.length,
    indefinite: words.filter((word) => indefinite.has(word.toLowerCase())).length,
    docstrings: pieces.length,
    openings: pieces.filter((piece) => /^(?:What|Who)(?:ever|se|m)?\b[^?]*$/.test(piece)).length,
    longSentences: pieces.flatMap(sentencesOf).filter((sentence) => wordsOf(sentence).length > MAX_WORDS).length,
    citations: outside.test(text) ? 1 : 0
  }
}

const plus = (a: Figures, b: Figures): Figures => {
  const keys = Object.keys(a) as ReadonlyArray<keyof Figures>
  return Object.fromEntries(keys.map((key) => [key, a[key] + b[key]])) as unknown as Figures
}

/** The sum of figures. */
export const sum = (all: ReadonlyArray<Figures>): Figures => all.reduce(plus, measure(""))

/** The limits of every folder. A folder above them is held at the best it has reached. */
export const goals = { indefinitePercent: 1, openings: 0, longSentences: 0, longLines: 0, assertionsPerThousand: 3, citations: 0 } as const

/** The limits of public sources, which users read in their editors. */
export const publicGoals: Shares = { ...goals, indefinitePercent: 0.5 }

/** A folder's figures as the limits count them. */
export type Shares = { readonly [name in keyof typeof goals]: number }

/** Shares, each given by its name. */
export const shared = (of: (name: keyof Shares) => number): Shares => {
  const names = Object.keys(goals) as ReadonlyArray<keyof Shares>
  return Object.fromEntries(names.map((name) => [name, of(name)])) as unknown as Shares
}

const rounded = (number: number): number => Math.ceil(number * 100) / 100

/** The shares of figures. */
export const shares = ({ assertions, citations, indefinite, lines, longLines, longSentences, openings, words }: Figures): Shares => ({
  indefinitePercent: rounded(100 * indefinite / Math.max(1, words)),
  openings,
  longSentences,
  longLines,
  assertionsPerThousand: rounded(1000 * assertions / lines),
  citations
})
