import { signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { asProblem, useLoaded } from '../api/load.ts';
import type { Problem } from '../api/problem.ts';
import { goTo } from '../route/route.ts';
import { useModal } from '../ui/modal.ts';
import {
  actionsLike,
  actionsWith,
  buildLookup,
  DELETED_PEERS,
  deletedPeersWith,
  docsLike,
  type Entry,
  pagesLike,
  readDocs,
  recordsLike,
} from './entries.ts';
import './palette.css';

const isOpen = signal(false);

const TITLE = 'Search or go to';
const HINT = 'A page, a name or address, an action, a sentence, or documentation';

/** Typing that stops for so long is looked up. */
const PAUSE_MS = 120;

/** The button of the top bar, and Ctrl K (⌘ K) everywhere: goes to a page, a record or a question by its name. */
export function PaletteButton() {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      isOpen.value = true;
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button type="button" class="palette-button" onClick={open}>
        {TITLE} <kbd>Ctrl K</kbd>
      </button>
      {isOpen.value && <Palette close={close} />}
    </>
  );
}

const open = () => {
  isOpen.value = true;
};
const close = () => {
  isOpen.value = false;
};

function Palette({ close }: { close: () => void }) {
  const text = useSignal('');
  const chosen = useSignal(0);
  const records = useRecords(text);
  const documentation = useLoaded(readDocs, { live: false });
  const problem = useComputed(() => records.value.problem ?? documentation.value.problem);
  const isLookedUp = useComputed(() => records.value.text === text.value.trim());
  const entries = useComputed(() => {
    const asked = text.value.trim();
    const known = [...pagesLike(asked), ...recordsLike(asked, records.value.entries), ...actionsLike(asked)];
    return [
      ...known,
      // Not before the records: what begins with a name of one is meant for it.
      ...(isLookedUp.value ? docsLike(asked, documentation.value.value ?? []) : []),
      ...actionsWith(asked),
      ...(isLookedUp.value && known.length === 0 ? deletedPeersWith(asked) : []),
    ];
  });
  // Before anything else is typed: what comes at once belongs into the field.
  const dialog = useModal(close);
  const take = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    if (typeof entry.to === 'string') goTo(entry.to);
    else entry.to();
  };
  const onKey = (event: KeyboardEvent) => {
    const last = entries.value.length - 1;
    if (event.key === 'ArrowDown') chosen.value = Math.min(last, chosen.value + 1);
    else if (event.key === 'ArrowUp') chosen.value = Math.max(0, chosen.value - 1);
    else if (event.key === 'Enter') take(entries.value[chosen.value]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label={TITLE} onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-label={HINT}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen.value}`}
        placeholder={HINT}
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        value={text.value}
        onKeyDown={onKey}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          chosen.value = 0;
        }}
      />
      <div id="palette-list" class="list" role="listbox" tabIndex={-1} aria-label={TITLE}>
        {entries.value.map((entry, index) => (
          <button
            key={`${entry.kind} ${entry.name}`}
            id={`palette-${index}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen.value}
            onClick={() => take(entry)}
          >
            <span class="break">{entry.name}</span>
            <span class="dim small push">{entry.kind}</span>
          </button>
        ))}
      </div>
      {problem.value && (
        <p class="dim" role="status">
          Not everything could be searched. {problem.value.message}
        </p>
      )}
      {entries.value.every(({ kind }) => kind === DELETED_PEERS) && isLookedUp.value && !problem.value && (
        <p class="dim">Nothing has this name. Try a peer, a page, or an action such as “dark mode”.</p>
      )}
    </dialog>
  );
}

interface Records {
  /** What was looked up. */
  readonly text: string;
  readonly entries: readonly Entry[];
  readonly problem?: Problem;
}

/** What the control plane knows by a name that begins so, and the text that it was asked for. */
function useRecords(text: { readonly value: string }) {
  const records = useSignal<Records>({ text: '', entries: [] });
  const lookup = useMemo(buildLookup, []);
  useSignalEffect(() => {
    const asked = text.value.trim();
    const abort = new AbortController();
    const timer = setTimeout(() => {
      lookup(asked, abort.signal)
        .then((found) => {
          if (!abort.signal.aborted) records.value = { text: asked, entries: found };
        })
        .catch((error: unknown) => {
          if (!abort.signal.aborted) records.value = { text: asked, entries: [], problem: asProblem(error) };
        });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
  return records;
}
