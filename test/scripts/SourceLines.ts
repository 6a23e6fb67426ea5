/**
 * Lines of code: of a source file, by folder, and of named sets of files.
 *
 * @module
 */
import { parseSync } from "rolldown/experimental"

/** A file of a commit, or of the working tree. */
export interface Source {
  readonly path: string
  readonly text: string
}

/**
 * The lines with code. Lines that are blank, or only comments, do not count. The comments are those of the parser, so a text that
 * looks like one is code. Fails for a file that is no TypeScript.
 */
export const count = ({ path, text }: Source): number => {
  const { comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} is not counted, because it does not parse: ${errors[0]?.message}`)
  let code = ""
  let end = 0
  for (const comment of comments) {
    // A comment of several lines leaves its line breaks, so that lines before and behind it stay apart.
    code += text.slice(end, comment.start) + text.slice(comment.start, comment.end).replaceAll(/[^\n]/g, "")
    end = comment.end
  }
  return (code + text.slice(end)).split("\n").filter((line) => line.trim() !== "").length
}

/** Sets of files by their names, each with the patterns of their paths: in earlier commits, too. */
export const sets: Readonly<Record<string, ReadonlyArray<RegExp>>> = {
  /** The outside of the ledgers, written once for each: verbs of a space, views, routes, commands, and the table of routes. */
  "outside of the ledgers": [
    /^src\/kernel\/space\/Space(?:Client|Face|Flows|Io|Lists|Operations|Part|Rendezvous|Runs)\.ts$/,
    /^src\/kernel\/space\/(?:Access|CommandQueue|Handle|LedgerClient)\.ts$/,
    /^src\/(?:kernel\/view\/(?:Space|Requests|Runs|CellList|WaitingList)|ledger\/CellRecords)\.ts$/,
    /^src\/ingress\/(?:Ops|Rv|Flows|DeclaredFlows|Io|Runs|Dead|RecordRoutes|FaceRoutes|Feature|Slice|Lists)\.ts$/,
    /^src\/cli\/(?:command\/)?(?:(?:Op|Rv|Flow|Io|Run|Dead|Record)Command|FaceCommands|PageList)\.ts$/,
    /^test\/docs\/Routes\.ts$/
  ],
  /** The declarations that took their place. */
  "faces of the ledgers": [
    /^src\/contract\/(?:Face|FaceEndpoints)\.ts$/,
    /^src\/(?:operation|rendezvous|flow|reactor|durable)\/(?:Face|Outside|Schemas)\.ts$/
  ]
}

/** The folder of a source: the first two names of its path. */
const folderOf = (path: string): string => path.split("/").slice(0, -1).slice(0, 2).join("/")

/** Sums by names, in their order. */
export type Sums = ReadonlyMap<string, number>

/** The lines of code by folder, and of each set. */
export const sums = (sources: ReadonlyArray<Source>): { readonly folders: Sums; readonly sets: Sums } => {
  const folders = new Map<string, number>()
  const named = new Map(Object.keys(sets).map((name) => [name, 0]))
  for (const source of [...sources].sort((a, b) => a.path < b.path ? -1 : 1)) {
    const lines = count(source)
    const folder = folderOf(source.path)
    folders.set(folder, (folders.get(folder) ?? 0) + lines)
    for (const [name, patterns] of Object.entries(sets)) {
      if (patterns.some((pattern) => pattern.test(source.path))) named.set(name, named.get(name)! + lines)
    }
  }
  return { folders, sets: named }
}
