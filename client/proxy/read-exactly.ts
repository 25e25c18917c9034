import type { Readable } from 'node:stream';

/** Reads so many bytes, and leaves what follows in the stream. @throws Error where it ends before */
export function readExactly(stream: Readable, count: number): Promise<Buffer> {
  if (count === 0) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const look = () => {
      const bytes: Buffer | null = stream.read(count);
      if (bytes === null) return;
      stop();
      if (bytes.length === count) resolve(bytes);
      else reject(new Error('The connection ended in the middle.'));
    };
    const end = () => {
      stop();
      reject(new Error('The connection ended in the middle.'));
    };
    const stop = () => {
      stream.off('readable', look);
      stream.off('close', end);
      stream.off('end', end);
    };
    stream.on('readable', look);
    stream.on('close', end);
    stream.on('end', end);
    look();
  });
}
