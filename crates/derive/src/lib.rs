//! `#[derive(Row)]`: the columns of a result are the fields of its struct.
//!
//! It lists the fields, and nothing else: units, digits and words are in the types of the fields
//! (`tailspn_common::row::Value`), so that a rule stands once for all results.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, parse_macro_input};

/// Implements `tailspn_common::row::Row`.
///
/// Each field is a column. `#[column("title")]` replaces the title, which is otherwise the name of the field without its
/// unit. `#[column(csv)]`, `#[column(room)]` and `#[column(detail)]` limit who sees the column; `#[column(set)]` marks the
/// settings that led to the row.
#[proc_macro_derive(Row, attributes(column))]
pub fn row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn implementation(input: &DeriveInput) -> Result<Tokens, Error> {
    let Data::Struct(data) = &input.data else { return Err(Error::new_spanned(input, "a row is a struct")) };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(input, "the fields of a row have names"));
    };
    check_keys(&input.attrs)?;
    let (mut columns, mut set) = (Vec::new(), None);
    for field in &fields.named {
        let (name, ty, shown) = (&field.ident, &field.ty, Attribute::of(field)?);
        let key = name.as_ref().map(ToString::to_string).unwrap_or_default();
        if shown.set {
            set = Some(quote! { fn set(&self) -> &::tailspn_common::row::Set { &self.#name } });
            continue;
        }
        let title = shown.title.map(|title| quote! { .title(#title) });
        let show = shown.show.map(|show| quote! { .show(::tailspn_common::row::Show::#show) });
        columns.push(quote! {
            ::tailspn_common::row::Column::new(#key, <#ty as ::tailspn_common::row::Value>::UNIT,
                |row: &Self| ::tailspn_common::row::Value::shown(&row.#name)) #title #show
        });
    }
    let name = &input.ident;
    Ok(quote! {
        impl ::tailspn_common::row::Row for #name {
            const COLUMNS: &'static [::tailspn_common::row::Column<Self>] = &[#(#columns),*];
            #set
        }
        // evaluates the columns, so that wrong names do not compile
        const _: () = {
            let _ = <#name as ::tailspn_common::row::Row>::COLUMNS;
        };
    })
}

/// Checks that keys in JSON are the names of fields.
fn check_keys(attributes: &[syn::Attribute]) -> Result<(), Error> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let text = quote!(#attribute).to_string();
        if ["rename", "flatten", "skip"].iter().any(|word| text.contains(word)) {
            return Err(Error::new_spanned(attribute, "the key of a column is the name of its field, in JSON too"));
        }
    }
    Ok(())
}

/// The words of `#[column(...)]`.
#[derive(Default)]
struct Attribute {
    title: Option<LitStr>,
    show: Option<syn::Ident>,
    set: bool,
}

impl Attribute {
    fn of(field: &Field) -> Result<Self, Error> {
        let mut found = Self::default();
        check_keys(&field.attrs)?;
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("column")) {
            attribute.parse_args_with(|input: syn::parse::ParseStream<'_>| {
                while !input.is_empty() {
                    if input.peek(LitStr) {
                        found.title = Some(input.parse()?);
                    } else {
                        let word: syn::Ident = input.parse()?;
                        let show = |name| Some(syn::Ident::new(name, word.span()));
                        match word.to_string().as_str() {
                            "csv" => found.show = show("Csv"),
                            "room" => found.show = show("Room"),
                            "detail" => found.show = show("Detail"),
                            "set" => found.set = true,
                            _ => return Err(Error::new_spanned(word, "expected a title, csv, room, detail or set")),
                        }
                    }
                    if !input.is_empty() {
                        input.parse::<syn::Token![,]>()?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}
