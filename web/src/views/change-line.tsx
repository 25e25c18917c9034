import { views } from '../texts/views.ts';
import { Sentence } from '../ui/sentence.tsx';

const words = views.timeline;

/** The commit that made a connection what it is from then on. */
export interface Change {
  readonly revision: number;
  readonly actor: string;
  readonly reason: string;
  readonly reviewed_by: string | null;
}

interface Props {
  readonly change: Change | null;
  readonly causes: readonly { readonly [field: string]: unknown }[];
}

/** What began an interval, and who did it. */
export function ChangeLine({ change, causes }: Props) {
  const names = causes.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  return (
    <>
      {names !== '' && (
        <p class="small break">
          {words.because} {names}
        </p>
      )}
      {change && (
        <p class="small dim break">
          {change.actor}: <Sentence text={change.reason} /> ({words.revision(change.revision)}
          {change.reviewed_by !== null && `, ${words.approvedBy(change.reviewed_by)}`})
        </p>
      )}
    </>
  );
}
