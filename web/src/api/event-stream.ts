export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  /** What is sent is JSON on one line. */
  readonly data: unknown;
}

/** Server-sent events of an answer, as they come. */
export async function* streamEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  let rest = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = fieldOf(block, 'data');
      if (data !== '') yield { event: fieldOf(block, 'event'), id: fieldOf(block, 'id'), data: JSON.parse(data) };
    }
  }
}

function fieldOf(block: string, name: string): string {
  const line = block.split('\n').find((text) => text.startsWith(`${name}: `));
  return line?.slice(name.length + 2) ?? '';
}
