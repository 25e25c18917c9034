/** A body that can be ended with a last chunk at any time; nothing of the original comes after that. */
export function endableBody(original: ReadableStream<Uint8Array>): {
  readonly body: ReadableStream<Uint8Array>;
  end(last: string): void;
} {
  const reader = original.getReader();
  let isEnded = false;
  let end: (last: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      end = (last) => {
        if (isEnded) return;
        isEnded = true;
        controller.enqueue(new TextEncoder().encode(last));
        controller.close();
        reader.cancel().catch(() => undefined);
      };
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (isEnded) return;
      if (!done) {
        controller.enqueue(value);
        return;
      }
      isEnded = true;
      controller.close();
    },
    cancel(reason) {
      isEnded = true;
      return reader.cancel(reason);
    },
  });
  return { body, end: (last) => end(last) };
}
