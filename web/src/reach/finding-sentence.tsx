import { Sentence } from '../ui/sentence.tsx';
import { Time } from '../ui/time.tsx';

/** `2026-01-31T12:00:00Z: ` stands before each sentence; the moment is told beside it. */
const MOMENT = /^[\d-]+T[\d:.]+Z:\s*/;

/** What changed a connection, and when. */
export function FindingSentence({ finding: { at, sentence } }: { finding: { at: string; sentence: string } }) {
  return (
    <p class="break">
      <strong>
        <Time at={at} />
      </strong>{' '}
      <Sentence text={sentence.replace(MOMENT, '')} />
    </p>
  );
}
