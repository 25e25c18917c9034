interface Wait {
  readonly isSo: () => boolean;
  readonly resolve: () => void;
}

/** Waits for what others bring about. What is so for a moment is seen too: a message may come together with the next one. */
export function buildWaits() {
  const waits = new Set<Wait>();
  const look = () => {
    for (const wait of waits) if (wait.isSo() && waits.delete(wait)) wait.resolve();
  };
  return {
    /** Something has changed, or will have once who tells of it has gone on. */
    changed(): void {
      look();
      queueMicrotask(look);
    },
    async until(isSo: () => boolean): Promise<void> {
      if (isSo()) return;
      await new Promise<void>((resolve) => waits.add({ isSo, resolve }));
    },
  };
}
