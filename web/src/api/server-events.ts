export interface ServerEvent {
  readonly event: string;
  readonly id: string;
  /** One line. */
  readonly data: string;
}

/** The server-sent events of an answer, each as soon as it is whole. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let rest = '';
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks)
        yield { event: fieldOf(block, 'event'), id: fieldOf(block, 'id'), data: fieldOf(block, 'data') };
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function fieldOf(block: string, name: string): string {
  const line = block.split('\n').find((text) => text.startsWith(`${name}: `));
  return line?.slice(name.length + 2) ?? '';
}
