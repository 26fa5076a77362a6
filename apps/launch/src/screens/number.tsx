import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button } from './parts/button.tsx'
import { digitsOf, NUMBER_DIGITS } from './parts/digits.ts'
import { Icon } from './parts/icons.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/**
 * On the device that joined with a code, before anything else: who asks for what, a warning, and the number of the first screen. Somebody
 * to whom an attacker sent the code has no such screen.
 */
export function NumberScreen({ view, actions, texts: { t } }: ScreenProps): JSX.Element | null {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [isShort, setShort] = useState(false)
  if (view.state.at !== 'number') return null
  const { sending } = view.state
  const submit = (event: Event) => {
    event.preventDefault()
    // Only a whole number is sent, and never by itself: one wrong number voids the code.
    const short = typed.length < NUMBER_DIGITS
    setShort(short)
    if (short) field.current?.focus()
    else if (!sending) actions.sendNumber(typed)
  }
  return (
    <form class="screen" noValidate onSubmit={submit}>
      <Title>{t('number.title', { host: view.host })}</Title>
      <p class="lead">{t('welcome.asks', { name: view.brand?.name ?? view.host })}</p>
      <div class="how warning">
        <Icon name="warning" size={24} />
        <p>
          <strong>{t('number.yours')}</strong> {t('number.sent')}
        </p>
      </div>
      <label class="digit-field">
        {t('number.label')}
        <input
          ref={field}
          class="digits"
          name="number"
          dir="ltr"
          inputMode="numeric"
          autoComplete="off"
          enterKeyHint="go"
          value={typed}
          readOnly={sending}
          aria-invalid={isShort}
          aria-describedby="number-help"
          onInput={({ currentTarget }) => {
            const digits = digitsOf(currentTarget.value)
            // The state may stay the same while the field has other signs.
            currentTarget.value = digits
            setTyped(digits)
            setShort(false)
          }}
        />
      </label>
      <p id="number-help" class="small centred" role={isShort ? 'alert' : undefined}>
        {t(isShort ? 'number.short' : 'number.where')}
      </p>
      <div class="buttons">
        <Button action="number" look="main" busy={sending}>
          {t('number.go')}
        </Button>
        <Button action="not-mine" look="alert" busy={sending} onPress={actions.cancel}>
          {t('number.notMine')}
        </Button>
      </div>
    </form>
  )
}
