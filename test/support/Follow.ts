/**
 * Streams of a server, as tests follow them.
 *
 * @module
 */

/** Follows the stream of a URL, and returns its first value that meets the condition. */
export const until = async <A>(url: string, condition: (value: A) => boolean): Promise<A> => {
  const response = await fetch(url, { headers: { accept: "text/event-stream" } })
  let text = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (const [, data = ""] of text.matchAll(/^event: value\ndata: (.*)\n\n/gm)) {
      const value = JSON.parse(data) as A
      if (condition(value)) return value
    }
  }
  throw new Error(`the stream of ${url} ended before its value met the condition: ${text}`)
}
