/** A fault of an archive. The message names the file. */
export interface EvidenceFinding {
  readonly code:
    | 'damaged'
    | 'path'
    | 'duplicate'
    | 'missing'
    | 'extra'
    | 'changed'
    | 'manifest'
    | 'attestation'
    | 'assessment'
    | 'signature'
    | 'untrusted_key'
    | 'checkpoint'
    | 'meta'
    | 'log'
    | 'forked'
    | 'other_log'
    | 'rows';
  readonly message: string;
}

/** An archive that is open to be read. */
export interface ArchiveReader {
  /** As the directory of the archive has them, each as often as it is there. */
  readonly names: readonly string[];
  /** Tells whether its entries have the time of an instant (ms), as exactly as an archive says it. */
  isOf(at: number): boolean;
  /** The bytes of an entry, of those with the same name the first. @throws Error where they cannot be read */
  read(name: string): AsyncIterable<Uint8Array>;
  /** A small entry as text. @throws Error where it is large, or cannot be read */
  text(name: string): Promise<string>;
}
