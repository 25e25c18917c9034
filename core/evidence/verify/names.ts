import type { EvidenceFinding } from './findings.ts';

/** Paths that lead out of a directory, or that programs read differently. */
const SAFE_PATH = /^(?:[A-Za-z0-9_()][A-Za-z0-9._()-]*\/)*[A-Za-z0-9_()][A-Za-z0-9._()-]*$/;

export function nameFindings(names: readonly string[]): EvidenceFinding[] {
  const seen = new Set<string>();
  return names.flatMap((name): EvidenceFinding[] => {
    const shown = JSON.stringify(name.slice(0, 200));
    if (!SAFE_PATH.test(name))
      return [
        { code: 'path', message: `The entry ${shown} has a name that no archive of evidence has: do not unpack it.` },
      ];
    const folded = name.toLowerCase();
    if (seen.has(folded))
      return [
        { code: 'duplicate', message: `The entry ${shown} is there twice, or beside one that differs in case alone.` },
      ];
    seen.add(folded);
    return [];
  });
}
