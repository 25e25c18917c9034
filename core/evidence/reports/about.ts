import type { AssessmentAnswer } from '../../compliance/assessments.ts';

/** The facts that the documents of an archive state beside the assessment. */
export interface About {
  /** The installation as people know it: its public address. */
  readonly installation: string;
  readonly workspace: { readonly id: string; readonly name: string };
  /** Milliseconds. */
  readonly exportedAt: number;
  /** The version of Mesh. */
  readonly version: string;
  /** The fingerprint of the public key that verifies attestation.json. */
  readonly keyFingerprint?: string;
  /** The populations in the archive: what the documents point at for ids. */
  readonly raw: readonly RawFile[];
}

/** The kinds of ids to look up in a file. */
type IdKind = 'policies' | 'revisions' | 'snapshots' | 'workflows';

export interface RawFile {
  /** In the archive, as `raw-data/workflow-audit-log.csv`. */
  readonly path: string;
  readonly title: string;
  readonly mediaType: string;
  readonly holds: readonly IdKind[];
  /** Hexadecimal; none where it is not known yet. */
  readonly sha256?: string;
}

export type Assessment = AssessmentAnswer;

export const CONTROLS_FOLDER = 'controls/';
export const SUMMARY_PATH = 'executive-summary.md';
export const REPORT_PATH = 'report.html';
export const OSCAL_PATH = 'oscal/assessment-results.json';

/** Where the result of a control stands in the archive: a name that every file system takes. */
export function controlPath(id: string): string {
  const name = id.replaceAll(/[^A-Za-z0-9._()-]/g, '_').replace(/^\.+/, '_');
  return `${CONTROLS_FOLDER}${name}-result.md`;
}
