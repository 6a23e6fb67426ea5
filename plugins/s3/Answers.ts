/**
 * The answers of a bucket: an object, its absence, or a failure.
 *
 * @module
 */
import type * as HttpClient from "../http/HttpClient.ts"
import * as Status from "../http/Status.ts"

/** The most bytes of a failure that are read for its code. */
const MAX_FAILURE = 65_536

/** The code of a failure, such as `NoSuchKey`. The answer to `HEAD` has none. */
const codeOf = async ({ body }: HttpClient.Exchange): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_FAILURE) break
  }
  return /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1]
}

/** Fails unless the status is a success. An absent object is told by `false`, if `absent` has its code. */
export const isFound = async (answer: HttpClient.Exchange, absent: ReadonlyArray<string | undefined>): Promise<boolean> => {
  const { status, url } = answer
  if (Status.isOk(status)) return true
  const code = await codeOf(answer)
  if (status === 404 && absent.includes(code)) return false
  const named = code === undefined ? "" : ` (${code})`
  throw Status.failure("s3/status", answer, `${url.origin} answered with ${status}${named}, and 2xx is expected`)
}
