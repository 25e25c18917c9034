import { createHash } from 'node:crypto';
import { rootAt } from '../../core/audit/keep-checkpoints.ts';
import { type Contents, type Counts, PARTS, type Part, type Rows, type WorkspaceHead } from './contents.ts';

/** A summary of the contents of one workspace, for comparison with another store. */
export interface WorkspaceDigest {
  readonly head: WorkspaceHead;
  /** The root of the tree of its log, in hexadecimal. */
  readonly root: string;
  readonly parts: Readonly<Record<Part, { readonly rows: number; readonly digest: string }>>;
  /** Unique values of its records. */
  readonly unique: number;
}

/** Reads all of a store, workspace by workspace. */
export async function* digestsOf(contents: Contents): AsyncGenerator<WorkspaceDigest, undefined> {
  for (const head of await contents.heads()) {
    let unique = 0;
    const digestOf = async <P extends Part>(part: P) => {
      const sha = createHash('sha256');
      let rows = 0;
      for await (const row of contents.rows(head.name, part)) {
        sha.update(LINES[part](row));
        rows += 1;
        if ('unique' in row) unique += row.unique.length;
      }
      return { rows, digest: sha.digest('hex') };
    };
    const parts = {
      log: await digestOf('log'),
      records: await digestOf('records'),
      versions: await digestOf('versions'),
      checkpoints: await digestOf('checkpoints'),
    };
    const root = Buffer.from(await rootAt(contents.tree(head.name), head.size)).toString('hex');
    yield { head, root, parts, unique };
  }
}

/** A line of JSON for each row, which has all of it. */
const LINES: { readonly [P in Part]: (row: Rows[P]) => string } = {
  log: ({ seq, at, commit, revision, hashes, entry }) => line([seq, at, commit, revision, base64(hashes), entry]),
  records: ({ kind, name, uid, revision, at, body, unique }) =>
    line([kind, name, uid, revision, at, body, [...unique].sort()]),
  versions: ({ kind, name, revision, at, until, untilAt, body }) =>
    line([kind, name, revision, at, until, untilAt, base64(body)]),
  checkpoints: ({ day, at, size, note }) => line([day, at, size, note]),
};

const line = (values: readonly unknown[]) => `${JSON.stringify(values)}\n`;

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** In what two stores differ, in words; undefined where they are equal. */
export function difference(one: WorkspaceDigest | undefined, other: WorkspaceDigest | undefined): string | undefined {
  if (!one || !other) return `${(one ?? other)?.head.name} is in one of them alone`;
  const { name } = one.head;
  if (JSON.stringify(one.head) !== JSON.stringify(other.head)) return `${name} does not stand where it did`;
  if (one.root !== other.root) return `the log of ${name} has another root`;
  const part = PARTS.find((each) => one.parts[each].digest !== other.parts[each].digest);
  if (part === undefined) return undefined;
  return `the ${part} of ${name} are others (${one.parts[part].rows} rows, and ${other.parts[part].rows})`;
}

/** Rows that none of the workspaces has, in words; undefined where there are none. */
export function strays(workspaces: readonly WorkspaceDigest[], counts: Counts): string | undefined {
  for (const part of [...PARTS, 'unique'] as const) {
    const seen = sum(workspaces.map(({ parts, unique }) => (part === 'unique' ? unique : parts[part].rows)));
    if (seen !== counts[part]) return `${counts[part] - seen} rows (${part}) belong to no workspace`;
  }
  return undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
