import { addStyle } from '../style/add-style.ts'
import styleUrl from './style.css?url'

export const addDocumentStyle = (): Promise<void> => addStyle(styleUrl)
