import { createHash } from 'node:crypto';
import type { ArchiveReader, EvidenceFinding } from './findings.ts';

/** The files of an archive, and what is found of them. */
export class CheckedFiles {
  readonly findings: EvidenceFinding[] = [];
  readonly notes: string[] = [];
  readonly #archive: ArchiveReader;
  readonly #there: ReadonlySet<string>;
  /** The missing files that were already reported: each is reported once. */
  readonly #missing = new Set<string>();

  constructor(archive: ArchiveReader) {
    this.#archive = archive;
    this.#there = new Set(archive.names);
  }

  get names(): ReadonlySet<string> {
    return this.#there;
  }

  read(path: string): AsyncIterable<Uint8Array> {
    return this.#archive.read(path);
  }

  /** Returns true if a file exists; a missing one is a finding. */
  isThere(path: string, message: string): boolean {
    if (this.#there.has(path)) return true;
    if (!this.#missing.has(path)) this.findings.push({ code: 'missing', message });
    this.#missing.add(path);
    return false;
  }

  /** Undefined for a file that is not there or cannot be read, which is a finding. */
  async text(path: string): Promise<string | undefined> {
    if (!this.isThere(path, `${path} is missing.`)) return undefined;
    try {
      return await this.#archive.text(path);
    } catch (error) {
      this.unreadable(path, error);
      return undefined;
    }
  }

  async digest(path: string): Promise<string | undefined> {
    const hash = createHash('sha256');
    try {
      for await (const bytes of this.#archive.read(path)) hash.update(bytes);
      return hash.digest('hex');
    } catch (error) {
      this.unreadable(path, error);
      return undefined;
    }
  }

  unreadable(path: string, error: unknown): void {
    const why = error instanceof Error ? error.message.slice(0, 200) : String(error);
    this.findings.push({ code: 'damaged', message: `${path} cannot be read: ${why}.` });
  }
}
