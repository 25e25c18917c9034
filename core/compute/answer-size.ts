import { MeshError } from '../base/errors.ts';

/**
 * The longest answer, bytes of JSON: some 700,000 pairs of a simulation. Eight of them at once leave the control plane
 * within the memory that it promises.
 */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export function requireAnswerSize(bytes: number): void {
  if (bytes > MAX_ANSWER_BYTES)
    throw answerTooLarge('Ask for less at once: by a filter, a page, or a smaller network.');
}

/** @param narrow what to do about it */
export function answerTooLarge(narrow: string, limit = MAX_ANSWER_BYTES): MeshError {
  return new MeshError('payload_too_large', `The answer would be larger than ${limit >> 20} MB. ${narrow}`);
}
