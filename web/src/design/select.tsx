import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { matches } from '../ui/table.tsx';
import { type Option, Options, optionId } from './options.tsx';

interface SelectProps {
  readonly label: string;
  /** True where only those who hear the page need the label. */
  readonly isLabelHidden?: boolean;
  readonly options: readonly Option[];
  readonly value: string | undefined;
  readonly change: (value: string) => void;
}

/** Options that are drawn at once. */
const MOST = 50;
const PAGE = 10;

/** One of many, found by its words: an editable combobox with a listbox, as the ARIA Authoring Practices have it. */
export function Select({ label, isLabelHidden, options, value, change }: SelectProps) {
  const id = useId();
  const list = `${id}-list`;
  const input = useRef<HTMLInputElement>(null);
  const isOpen = useSignal(false);
  /** Undefined until something is typed. */
  const search = useSignal<string | undefined>(undefined);
  const active = useSignal(0);
  const chosen = options.find((option) => option.value === value);
  const found = isOpen.value ? options.filter(({ text }) => matches(search.value ?? '', [text])) : [];
  const shown = found.slice(0, MOST);
  const activeOption = shown[active.value];
  const open = () => {
    if (isOpen.value) return;
    isOpen.value = true;
    active.value = Math.max(0, chosen && options.indexOf(chosen) < MOST ? options.indexOf(chosen) : 0);
  };
  const close = () => {
    isOpen.value = false;
    search.value = undefined;
  };
  const take = (option: Option) => {
    close();
    if (option !== chosen) change(option.value);
  };
  // What is typed next is another search, not a longer name.
  useLayoutEffect(() => {
    if (!isOpen.value && input.current?.matches(':focus')) input.current.select();
  }, [isOpen.value]);
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
  const onKey = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step !== undefined && !isOpen.value) open();
    else if (step !== undefined) active.value = Math.max(0, Math.min(shown.length - 1, active.value + step));
    else if (event.key === 'Enter' && activeOption) take(activeOption);
    else if (event.key === 'Escape' && isOpen.value) close();
    else return;
    event.preventDefault();
  };
  return (
    <div class="field select">
      <label for={id} class={isLabelHidden ? 'visually-hidden' : ''}>
        {label}
      </label>
      <div class="combobox">
        <input
          id={id}
          ref={input}
          type="text"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={shown.length > 0}
          aria-controls={shown.length > 0 ? list : undefined}
          aria-activedescendant={activeOption && optionId(list, active.value)}
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          title={chosen?.text}
          value={search.value ?? chosen?.text ?? ''}
          onFocus={({ currentTarget }) => currentTarget.select()}
          onClick={open}
          onInput={({ currentTarget }) => {
            isOpen.value = true;
            search.value = currentTarget.value;
            active.value = 0;
          }}
          onKeyDown={onKey}
          onBlur={close}
        />
        {isOpen.value && (
          <Options
            id={list}
            label={label}
            options={shown}
            active={active.value}
            take={take}
            onKey={onKey}
            note={noteOf(found.length)}
          />
        )}
      </div>
    </div>
  );
}

function noteOf(found: number): string | undefined {
  if (found === 0) return 'Nothing matches.';
  return found > MOST ? `${MOST} of ${found.toLocaleString('en')}. Type to find others.` : undefined;
}
