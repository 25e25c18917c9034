import { type Meshd, startMeshd } from './meshd.ts';

export interface Part {
  readonly port: number;
  readonly meshd: Meshd;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `meshd bus`, `meshd relay` or `meshd stun` as a process of its own. @throws Error when it ends before it listens */
export async function startPart(
  part: 'bus' | 'relay' | 'stun',
  env: Readonly<Record<string, string>> = {},
): Promise<Part> {
  const meshd = startMeshd({ command: ['bin/meshd', part], env });
  const line = await Promise.race([logged(meshd, 'listening'), meshd.ended]);
  if (typeof line !== 'object' || line === null) throw new Error(`meshd ${part} did not come up:\n${meshd.stderr()}`);
  return {
    port: line.port,
    meshd,
    async [Symbol.asyncDispose]() {
      await meshd.stop();
    },
  };
}

/** Resolves with the first line of the log that has this message. */
// biome-ignore lint/suspicious/noExplicitAny: each test knows the fields of the line it waits for.
export function logged(meshd: Meshd, message: string): Promise<any> {
  return new Promise((resolve) => {
    const look = () => {
      const lines = meshd.stderr().split('\n').slice(0, -1);
      const found = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
      const line = found.find(({ msg }) => msg.includes(message));
      if (line === undefined) return;
      meshd.child.stderr?.off('data', look);
      resolve(line);
    };
    meshd.child.stderr?.on('data', look);
    look();
  });
}
