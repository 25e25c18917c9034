import { EventSourceParserStream } from 'eventsource-parser/stream';

/** Reads events of a stream one at a time. */
export function reading({ body }: Response) {
  if (!body) throw new Error('The response has no body.');
  const decoded = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
  const reader = decoded.pipeThrough(new EventSourceParserStream()).getReader();
  return {
    async next() {
      const { value, done } = await reader.read();
      return done || !value ? undefined : { id: value.id, event: value.event, data: JSON.parse(value.data) };
    },
    stop: () => reader.cancel(),
  };
}
