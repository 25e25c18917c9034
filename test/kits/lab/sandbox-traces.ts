import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

/** What a sandbox calls its interface; the same mark is in the name of all that it makes on the host. */
const INTERFACE = /^\s*ms([0-9a-f]{8})\s*$/gm;

/** The sandboxes of one test, apart from those of tests beside it. */
export class SandboxTraces implements Disposable {
  readonly #directory = mkdtempSync('/tmp/sandbox-traces-');
  readonly #file = path.join(this.#directory, 'interfaces');

  constructor() {
    chmodSync(this.#directory, 0o777);
  }

  /** A script that notes its sandbox, by the interfaces it sees or its arguments, and then does what it did. */
  noting(script: string): string {
    return `(cut -d: -f1 /proc/net/dev; printf '%s\\n' "$@") >>${this.#file}; ${script}`;
  }

  /** Returns what the noted sandboxes left on this machine. */
  left(): string[] {
    const marks = [...readFileSync(this.#file, 'utf8').matchAll(INTERFACE)].map(([, mark = '']) => mark);
    if (marks.length === 0) throw new Error('No sandbox was noted.');
    const names = ['/run/mesh', '/run/netns', '/etc/netns', '/run/wireguard', '/tmp'].flatMap((directory) =>
      existsSync(directory) ? readdirSync(directory) : [],
    );
    return names.filter((name) => marks.some((mark) => name.includes(mark)));
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
