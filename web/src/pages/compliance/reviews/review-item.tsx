import { useSignal } from '@preact/signals';
import { api } from '../../../api/client.ts';
import { write } from '../../../api/write.ts';
import { reviews as words } from '../../../texts/reviews.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { Time } from '../../../ui/time.tsx';
import type { ReviewItem } from '../types.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

interface Props {
  readonly review: string;
  readonly item: ReviewItem;
  readonly isOpen: boolean;
  readonly decided: () => void;
}

/** One holder of access, policy or kind of entries: what it is, what it may do, and what was decided of it. */
export function Item({ review, item, isOpen, decided }: Props) {
  const { type, name, facts, told, may, standing, decision, in_force: isInForce, end_by: endBy } = item;
  const known = [...Object.entries(facts), ...Object.entries(told)];
  return (
    <li class="stack-small">
      <span class="row">
        <strong class="break">{name}</strong>
        <span class="tag">{type}</span>
        {standing === 'changed' && <span class="tag warn">▲ {words.changed}</span>}
        {standing === 'ended' && <span class="tag">✕ {words.ended}</span>}
        {isOpen && standing !== 'ended' && <Decide review={review} item={item} decided={decided} />}
      </span>
      {may.length > 0 && (
        <span class="break">
          {words.may}: {may.join(', ')}
        </span>
      )}
      <span class="dim small row">
        {known.map(([field, value]) => (
          <span key={field} class="break">
            {field.replaceAll('_', ' ')}: {INSTANT.test(value) ? <Time at={value} /> : value}
          </span>
        ))}
      </span>
      {decision && (
        <span class="row small">
          <span class={`tag ${decision.verdict === 'confirmed' ? 'ok' : 'danger'}`}>
            {decision.verdict === 'confirmed' ? `● ${words.confirmed}` : `▲ ${words.flagged}`}
          </span>
          <span class="break">{decision.note}</span>
          <span class="dim">
            {decision.by} <Time at={decision.at} /> {decision.own && words.ownHeld}
          </span>
          {isInForce !== null && (
            <span class={`tag ${isInForce ? 'warn' : 'ok'}`}>{isInForce ? words.stillThere : words.gone}</span>
          )}
          {isInForce && endBy && (
            <span class="dim">
              {words.endBy} <code>{endBy.operation}</code>
            </span>
          )}
        </span>
      )}
    </li>
  );
}

function Decide({ review, item: { id, name, digest, decision }, decided }: Omit<Props, 'isOpen'>) {
  const isFlagging = useSignal(false);
  const note = useSignal('');
  const { isActing, problem, act } = useAct();
  const decide = async (verdict: 'confirmed' | 'flagged') => {
    const body = { items: [{ item: id, verdict, note: note.value, digest }], note: '' };
    const call = api.POST('/api/v1/ai/compliance/reviews/{id}/decisions', { params: { path: { id: review } }, body });
    await write(call, words.decided(name, verdict));
    decided();
  };
  return (
    <>
      <span class="row push">
        {decision?.verdict !== 'confirmed' && (
          <button type="button" disabled={isActing.value} onClick={() => act(() => decide('confirmed'))}>
            {words.confirm} <span class="visually-hidden">{name}</span>
          </button>
        )}
        {decision?.verdict !== 'flagged' && (
          <button type="button" class="danger" onClick={() => (isFlagging.value = true)}>
            {words.flag} <span class="visually-hidden">{name}</span>
          </button>
        )}
      </span>
      <ProblemNotice problem={problem.value} />
      {isFlagging.value && (
        <Confirm
          title={words.flagTitle(name)}
          act={words.flag}
          run={() => decide('flagged')}
          close={() => (isFlagging.value = false)}
        >
          <p>{words.flagWhy}</p>
          <TextField label={words.note} value={note} required autocomplete="off" />
        </Confirm>
      )}
    </>
  );
}
