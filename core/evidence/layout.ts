import { RAW_FILES } from './raw-files.ts';
import { OSCAL_PATH, REPORT_PATH, SUMMARY_PATH } from './reports/about.ts';

export const ASSESSMENT_PATH = 'assessment.json';
export const CHECKPOINT_PATH = 'audit-checkpoint.txt';
export const KEY_PATH = 'public-key.pem';
export const VERIFY_PATH = 'VERIFY.md';
export const MANIFEST_PATH = 'MANIFEST.sha256';
export const ATTESTATION_PATH = 'attestation.json';

export function metaPath(path: string): string {
  return path.replace(/\.[a-z]+$/, '.meta.json');
}

/** The files of every archive, beside the result of each control. A missing one is a finding, even in a signed archive. */
export const LAYOUT: readonly string[] = [
  SUMMARY_PATH,
  ...RAW_FILES.flatMap(({ path }) => [path, metaPath(path)]),
  OSCAL_PATH,
  REPORT_PATH,
  ASSESSMENT_PATH,
  CHECKPOINT_PATH,
  KEY_PATH,
  VERIFY_PATH,
  MANIFEST_PATH,
  ATTESTATION_PATH,
];
