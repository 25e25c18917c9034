/** An issuer answers within so long, whole: people wait for it. */
const ANSWER_MS = 5_000;
/** Metadata, keys and tokens are some kilobytes. */
const MAX_BYTES = 262_144;

/**
 * Fetches from an issuer, bounded in time and size, and follows no redirect. The issuer is a setting of who runs the control
 * plane, so private addresses are fetched too.
 *
 * @throws Error for an answer that is too long, or takes too long
 */
export async function boundedFetch(url: string, init: RequestInit, ms = ANSWER_MS): Promise<Response> {
  const signal = AbortSignal.timeout(ms);
  const response = await fetch(url, { ...init, redirect: 'manual', signal });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // To leave the loop ends the connection.
    if (length > MAX_BYTES) throw new RangeError(`The answer has more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers });
}
