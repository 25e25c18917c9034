import { useLayoutEffect, useRef } from 'preact/hooks';
import './options.css';

export interface Option {
  readonly value: string;
  readonly text: string;
  readonly about?: string | undefined;
}

interface OptionsProps {
  /** Of the listbox, which the field of the combobox names by `aria-controls`. */
  readonly id: string;
  readonly label: string;
  readonly options: readonly Option[];
  /** Index of the option that the field names by {@link optionId} in `aria-activedescendant`. */
  readonly active: number;
  readonly take: (option: Option) => void;
  readonly onKey: (event: KeyboardEvent) => void;
  readonly note?: string | undefined;
}

/** What a combobox opens below its field, which keeps the focus. */
export function Options({ id, label, options, active, take, onKey, note }: OptionsProps) {
  const popup = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => popup.current?.scrollIntoView({ block: 'nearest' }), []);
  useLayoutEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div ref={popup} class="options">
      {options.length > 0 && (
        <div id={id} ref={list} role="listbox" aria-label={label}>
          {options.map((option, index) => (
            <div
              key={option.value}
              id={optionId(id, index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(option)}
              onKeyDown={onKey}
            >
              <bdi class="break">{option.text}</bdi>
              {option.about && <span class="dim small push">{option.about}</span>}
            </div>
          ))}
        </div>
      )}
      {note && (
        <p class="dim small" role="status">
          {note}
        </p>
      )}
    </div>
  );
}

export function optionId(list: string, index: number): string {
  return `${list}-${index}`;
}
